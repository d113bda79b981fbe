import { XdrError } from './xdr.ts';
import type { XdrReader } from './xdr.ts';
import type { DomainRef, Parameters } from './types.ts';
import { readDomain, readParameters } from './types.ts';

/** virDomainEventType, in order of its numbers. */
const LIFECYCLES = [
  'defined',
  'undefined',
  'started',
  'suspended',
  'resumed',
  'stopped',
  'shutdown',
  'pmsuspended',
  'crashed',
] as const;
export type Lifecycle = (typeof LIFECYCLES)[number];

/** virDomainEvent…DetailType, by lifecycle, in order of its numbers. A detail newer than this table is `unknown`. */
const DETAILS: Readonly<Record<Lifecycle, readonly string[]>> = {
  defined: ['added', 'updated', 'renamed', 'from_snapshot'],
  undefined: ['removed', 'renamed'],
  started: ['booted', 'migrated', 'restored', 'from_snapshot', 'wakeup'],
  suspended: [
    'paused',
    'migrated',
    'ioerror',
    'watchdog',
    'restored',
    'from_snapshot',
    'api_error',
    'postcopy',
    'postcopy_failed',
  ],
  resumed: ['unpaused', 'migrated', 'from_snapshot', 'postcopy', 'postcopy_failed'],
  stopped: ['shutdown', 'destroyed', 'crashed', 'migrated', 'saved', 'failed', 'from_snapshot'],
  shutdown: ['finished', 'guest', 'host'],
  pmsuspended: ['memory', 'disk'],
  crashed: ['panicked', 'crashloaded'],
};

export type DomainEvent =
  | { readonly kind: 'lifecycle'; readonly domain: DomainRef; readonly lifecycle: Lifecycle; readonly detail: string }
  | { readonly kind: 'reboot'; readonly domain: DomainRef }
  | {
      readonly kind: 'ioError';
      readonly domain: DomainRef;
      readonly path: string;
      readonly device: string;
      readonly action: number;
    }
  | { readonly kind: 'agent'; readonly domain: DomainRef; readonly connected: boolean }
  | { readonly kind: 'migrationIteration'; readonly domain: DomainRef; readonly iteration: number }
  | { readonly kind: 'jobCompleted'; readonly domain: DomainRef; readonly stats: Parameters };

interface EventSource {
  /** virDomainEventID, to register for. */
  readonly eventId: number;
  /** Procedure number of the message that carries it. */
  readonly message: number;
  readonly decode: (reader: XdrReader) => DomainEvent;
}

const AGENT_CONNECTED = 1;

/** The events registered for. Every message starts with the id of the callback, of no use here: we register once each. */
export const eventSources: readonly EventSource[] = [
  { eventId: 0, message: 318, decode: readLifecycle },
  { eventId: 1, message: 319, decode: (reader) => ({ kind: 'reboot', domain: readDomain(reader) }) },
  {
    eventId: 4,
    message: 322,
    decode: (reader) => ({
      kind: 'ioError',
      domain: readDomain(reader),
      path: reader.string(),
      device: reader.string(),
      action: reader.i32(),
    }),
  },
  {
    eventId: 18,
    message: 348,
    decode: (reader) => ({ kind: 'agent', domain: readDomain(reader), connected: reader.i32() === AGENT_CONNECTED }),
  },
  {
    eventId: 20,
    message: 359,
    decode: (reader) => ({ kind: 'migrationIteration', domain: readDomain(reader), iteration: reader.i32() }),
  },
  {
    eventId: 21,
    message: 363,
    decode: (reader) => ({ kind: 'jobCompleted', domain: readDomain(reader), stats: readParameters(reader) }),
  },
];

/**
 * The event in a message, or undefined when the message is none that we know: newer daemons may send more.
 * @throws XdrError when a known message does not hold what it should
 */
export function decodeEvent(message: number, reader: XdrReader): DomainEvent | undefined {
  const source = eventSources.find((candidate) => candidate.message === message);
  if (source === undefined) return undefined;
  reader.i32(); // callback id
  return source.decode(reader);
}

function readLifecycle(reader: XdrReader): DomainEvent {
  const domain = readDomain(reader);
  const type = reader.i32();
  const lifecycle = LIFECYCLES[type];
  if (lifecycle === undefined) throw new XdrError(`unknown lifecycle event ${type}`);
  return { kind: 'lifecycle', domain, lifecycle, detail: DETAILS[lifecycle][reader.i32()] ?? 'unknown' };
}
