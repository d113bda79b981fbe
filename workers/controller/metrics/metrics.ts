import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

export interface ControllerMetrics {
  isLeading: Gauge;
  deliveryFailures: Counter;
  objectsWithoutWorkflow: Gauge;
  workflowsWithoutObject: Gauge;
}

/** Metrics of the bridge. `backlog` is asked at each scrape. */
export const controllerMetrics = (register: Registry, backlog: () => number): ControllerMetrics => {
  const registers = [register];
  new Gauge({
    name: 'virtflow_bridge_backlog',
    help: 'Signals that Temporal has not acknowledged yet',
    registers,
    collect() {
      this.set(backlog());
    },
  });
  return {
    isLeading: new Gauge({ name: 'virtflow_leading', help: '1 if this worker runs the bridge', registers }),
    deliveryFailures: new Counter({
      name: 'virtflow_bridge_delivery_failures_total',
      help: 'Signals that could not be delivered and were tried again',
      registers,
    }),
    objectsWithoutWorkflow: new Gauge({
      name: 'virtflow_objects_without_workflow',
      help: 'Objects whose own workflow did not run at the last sweep; it was started',
      registers,
    }),
    workflowsWithoutObject: new Gauge({
      name: 'virtflow_workflows_without_object',
      help: 'Workflows whose object was not there at the last sweep; they were told',
      registers,
    }),
  };
};
