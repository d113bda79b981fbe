import type { CallOptions, ServiceError } from '@grpc/grpc-js';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { fromLauncher } from './errors.ts';

/** Calls over one gRPC channel, whose failures are those of `fromLauncher`. */
export interface Wire {
  call(method: string, request: object, timeoutMs: number): Promise<unknown>;
  stream(method: string, request: object, signal: AbortSignal): AsyncIterable<unknown>;
  close(): void;
}

export const openWire = (address: string, methods: ServiceDefinition, name: string, signal?: AbortSignal): Wire => {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.enable_http_proxy': 0,
    // The picture of a large display.
    'grpc.max_receive_message_length': 64 * 1024 * 1024,
    // Each connection for itself, and soon again: a launcher that comes back must not wait for what others found before.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    // A frozen launcher keeps its socket open: only a ping tells.
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 10_000,
  });
  const methodOf = (method: string) => {
    const found = methods[method];
    if (found === undefined) throw new Error(`launcher.proto has no method ${method}`);
    return found;
  };
  return {
    call: (method, request, timeoutMs) =>
      new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = methodOf(method);
        const options: CallOptions = { deadline: Date.now() + timeoutMs };
        const done = (error: ServiceError | null, reply?: unknown): void => {
          signal?.removeEventListener('abort', cancel);
          if (error) reject(fromLauncher(error, `${method} of the ${name}`));
          else resolve(reply);
        };
        const call = client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          new Metadata(),
          options,
          done,
        );
        const cancel = (): void => call.cancel();
        signal?.addEventListener('abort', cancel, { once: true });
        if (signal?.aborted) cancel();
      }),
    async *stream(method, request, ends) {
      const { path, requestSerialize, responseDeserialize } = methodOf(method);
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
      const cancel = (): void => call.cancel();
      ends.addEventListener('abort', cancel, { once: true });
      try {
        if (ends.aborted) return;
        for await (const reply of call) yield reply as unknown;
      } catch (error) {
        if (!ends.aborted) throw fromLauncher(error, `${method} of the ${name}`);
      } finally {
        ends.removeEventListener('abort', cancel);
        call.cancel();
      }
    },
    close: () => client.close(),
  };
};
