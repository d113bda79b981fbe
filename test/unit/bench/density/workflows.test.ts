import { expect, test } from '@jest/globals';
import { costOfHistories } from '../../../bench/density/workflows.ts';

test('what workflows of a type took is averaged over their histories', () => {
  const histories = [
    ['workflowExecutionStarted', 'workflowTaskCompleted', 'activityTaskScheduled', 'workflowExecutionSignaled'],
    [
      'workflowExecutionStarted',
      'workflowTaskCompleted',
      'workflowTaskCompleted',
      'markerRecorded',
      'timerStarted',
      '',
    ],
  ];
  expect(costOfHistories('startInstance', histories)).toEqual({
    ...{ type: 'startInstance', count: 2, events: 5, workflowTasks: 1.5 },
    ...{ activities: 0.5, markers: 0.5, signals: 0.5, timers: 0.5 },
  });
});

test('of none there is nothing', () => {
  expect(costOfHistories('startInstance', []).events).toBe(0);
});
