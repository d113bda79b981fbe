import type { Logger as TemporalLogger, LogLevel, LogMetadata } from '@temporalio/worker';
import { pino } from 'pino';
import type { Logger } from 'pino';

export type { Logger };

/** JSON lines on stdout. Values that may hold credentials are removed, whoever logs them. */
export const createLogger = (component: string, level: string): Logger =>
  pino({
    base: { component },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['*.token', '*.password', '*.apiKey', '*.authorization', '*.userData'], remove: true },
  });

const LEVELS: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** What Temporal's SDK and workflows log, in the same stream. */
export const temporalLogger = (log: Logger): TemporalLogger => {
  const write = (level: LogLevel, message: string, meta: LogMetadata = {}): void => {
    const { error, ...rest } = meta as LogMetadata & { error?: unknown };
    log[LEVELS[level]]({ ...rest, ...(error === undefined ? {} : { err: error }) }, message);
  };
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
};
