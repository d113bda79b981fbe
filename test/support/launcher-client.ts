import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import type { Client, ServiceClientConstructor, ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { MigrationEvent, MigrationOutcome } from '../../api/launcher/migration.ts';
import type { DomainReport } from '../../api/launcher/reports.ts';

const proto = fileURLToPath(new URL('../../api/launcher/launcher.proto', import.meta.url));

type Call = (
  request: object,
  options: { deadline: number },
  done: (error: ServiceError | null, reply: unknown) => void,
) => void;
type Watch = (
  request: object,
) => AsyncIterable<{ reportJson: string }> & { cancel(): void; on(event: 'error', act: () => void): void };

/** Talks to a launcher as the node worker does. */
export class LauncherClient {
  readonly #client: Client;
  readonly #vmiUid: string;

  constructor(socket: string, vmiUid: string) {
    const definition = loadPackageDefinition(loadSync(proto, { defaults: true, longs: Number })) as unknown as {
      virtflow: { launcher: { v1: { Launcher: ServiceClientConstructor } } };
    };
    this.#client = new definition.virtflow.launcher.v1.Launcher(`unix:${socket}`, credentials.createInsecure());
    this.#vmiUid = vmiUid;
  }

  /** @throws ServiceError with the launcher's code and message */
  call<T = object>(method: string, request: object = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = (this.#client as unknown as Record<string, Call>)[method];
      if (call === undefined) throw new Error(`launcher.proto has no method ${method}`);
      call.call(
        this.#client,
        { vmiUid: this.#vmiUid, ...request },
        { deadline: Date.now() + 60_000 },
        (error, reply) => (error ? reject(error) : resolve(reply as T)),
      );
    });
  }

  async report(method: string, request: object = {}): Promise<DomainReport> {
    const { reportJson } = await this.call<{ reportJson: string }>(method, request);
    return JSON.parse(reportJson) as DomainReport;
  }

  /** Code of the refusal that the call ends in, undefined when it succeeds. */
  async refusal(method: string, request: object = {}): Promise<ServiceError | undefined> {
    return this.call(method, request).then(
      () => undefined,
      (error: ServiceError) => error,
    );
  }

  /** A command whose request and reply are JSON. */
  async json<T>(method: string, request: object): Promise<T> {
    const { json } = await this.call<{ json: string }>(method, { json: JSON.stringify(request) });
    return JSON.parse(json) as T;
  }

  /** Reads MigrateVMI's stream; `ended` rejects with the stream's error when it has no proper end. */
  migrate(request: object): { events: MigrationEvent[]; ended: Promise<MigrationOutcome>; leave(): void } {
    const method = (this.#client as unknown as Record<string, Watch>)['MigrateVMI'];
    if (method === undefined) throw new Error('launcher.proto has no method MigrateVMI');
    const stream = method.call(this.#client, { vmiUid: this.#vmiUid, json: JSON.stringify(request) });
    const events: MigrationEvent[] = [];
    const read = async (): Promise<MigrationOutcome> => {
      for await (const { json } of stream as unknown as AsyncIterable<{ json: string }>) {
        const event = JSON.parse(json) as MigrationEvent;
        events.push(event);
        if (event.type === 'ended') return event.outcome;
      }
      throw new Error('the stream ended without an end of the migration');
    };
    const ended = read();
    ended.catch(() => undefined);
    return { events, ended, leave: () => stream.cancel() };
  }

  /** Collects reports until the stream ends or is stopped. */
  watch(after?: DomainReport['sequence']): { reports: DomainReport[]; stop(): void } {
    const watch = (this.#client as unknown as Record<string, Watch>)['WatchEvents'];
    if (watch === undefined) throw new Error('launcher.proto has no method WatchEvents');
    const stream = watch.call(this.#client, after ? { resume: true, afterEpoch: after.epoch, afterN: after.n } : {});
    const reports: DomainReport[] = [];
    const read = async (): Promise<void> => {
      for await (const { reportJson } of stream) reports.push(JSON.parse(reportJson) as DomainReport);
    };
    read().catch(() => undefined); // The stream ends with the launcher or with stop().
    return { reports, stop: () => stream.cancel() };
  }

  close(): void {
    this.#client.close();
  }
}
