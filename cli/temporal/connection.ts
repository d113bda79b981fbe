import { status as grpcStatus } from '@grpc/grpc-js';
import { Client, Connection, isGrpcServiceError, ServiceError } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DEFAULT_TEMPORAL_NAMESPACE } from '../../api/contract/search-attributes.ts';
import { UserError } from '../errors.ts';

export interface TemporalTarget {
  client: Client;
  connection: Connection;
  address: string;
  namespace: string;
}

/** Connects as the standard environment configuration says. @throws UserError when the server cannot be reached */
export async function connectTemporal(connectTimeout: '2s' | '5s' = '5s'): Promise<TemporalTarget> {
  const { connectionOptions, namespace = DEFAULT_TEMPORAL_NAMESPACE } = loadClientConnectConfig();
  const address = connectionOptions.address ?? 'localhost:7233';
  try {
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout });
    return { client: new Client({ connection, namespace }), connection, address, namespace };
  } catch (error) {
    throw new UserError(
      `Temporal at ${address} cannot be reached (${(error as Error).message}). Check the server, TEMPORAL_ADDRESS and, if it wants TLS, TEMPORAL_TLS_CLIENT_CERT_PATH and its like.`,
      {
        cause: error,
      },
    );
  }
}

/** Turns what the server refused into words for people; anything else passes through. */
function explain(error: unknown, { address, namespace }: TemporalTarget): unknown {
  const text = error instanceof Error ? error.message : String(error);
  if (isGrpcServiceError(error) && error.code === grpcStatus.NOT_FOUND && /namespace/i.test(error.details))
    return missing(namespace, address, error);
  if (error instanceof Error && error.name === 'NamespaceNotFoundError') return missing(namespace, address, error);
  if (error instanceof ServiceError || isGrpcServiceError(error))
    return new UserError(`Temporal at ${address} refused: ${text}. Is TEMPORAL_ADDRESS right?`, { cause: error });
  return error;
}

const missing = (namespace: string, address: string, cause: Error): UserError =>
  new UserError(
    `Temporal at ${address} has no namespace "${namespace}": run virtflow temporal setup, or set TEMPORAL_NAMESPACE.`,
    { cause },
  );

/** Runs `use` with a connection and closes it. */
export async function withTemporal<T>(use: (temporal: TemporalTarget) => Promise<T>): Promise<T> {
  const temporal = await connectTemporal();
  try {
    return await use(temporal);
  } catch (error) {
    throw explain(error, temporal);
  } finally {
    await temporal.connection.close();
  }
}
