import { execa } from 'execa';

/** A workflow of Temporal's, as far as tests count. */
export interface WorkflowSize {
  id: string;
  /** Events in the history of its newest run. */
  events: number;
  isOpen: boolean;
}

const timeout = 60_000;

const temporal = async <T>(...args: string[]): Promise<T> =>
  JSON.parse((await execa('temporal', [...args, '-o', 'json'], { timeout })).stdout) as T;

/** Ids of all workflows of a visibility query. */
export async function workflowIds(query: string): Promise<string[]> {
  const found = await temporal<{ execution: { workflowId: string } }[]>('workflow', 'list', '--query', query);
  return [...new Set(found.map(({ execution }) => execution.workflowId))];
}

export async function workflowSize(id: string): Promise<WorkflowSize> {
  const { workflowExecutionInfo: info } = await temporal<{
    workflowExecutionInfo: { historyLength: string; status: string };
  }>('workflow', 'describe', '-w', id);
  return { id, events: Number(info.historyLength), isOpen: info.status === 'WORKFLOW_EXECUTION_STATUS_RUNNING' };
}

/** The history of a workflow as JSON, with its payloads in clear after it. */
export async function historyInClear(id: string): Promise<string> {
  const { stdout } = await execa('temporal', ['workflow', 'show', '-w', id, '-o', 'json'], { timeout });
  const payloads = [...stdout.matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString('latin1'),
  );
  return [stdout, ...payloads].join('\n');
}
