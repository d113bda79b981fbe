import type { ObjectRef } from '../../../api/contract/refs.ts';
import type { MigrationChannel, MigrationView } from '../../../api/launcher/migration.ts';

/**
 * The way between the two Pods of a migration. Each node worker has one listener on its node's address (mutual TLS); in the source's Pod it serves
 * the sockets that libvirt and QEMU connect to, in the target's Pod it connects to theirs. A session is one migration's part of that on one node; it
 * is kept on disk, so that it is there again after a restart of the worker.
 */
export interface MigrationProxy {
  /** Where other nodes reach this one. @throws PeerUnreachable while it does not listen */
  endpoint(): { address: string; port: number };
  /** Target: lets the source's node worker in. Replaces the session that the migration had. */
  admit(session: TargetSession): Promise<void>;
  /** Source: serves the sockets in the Pod. Repeated: connections that stand are left alone. @throws PodFailed when the Pod's directory is gone */
  open(session: SourceSession): Promise<void>;
  /** Source: to the target's node worker, for the hand-over. `onSilent`: it has answered nothing for 20 s, and does not yet. */
  link(session: SourceSession, onSilent?: () => void): PeerLink;
  /**
   * Source: breaks what connections stand, whose other side is lost: only then does whoever waits for them learn of it (TCP itself tries for many minutes
   * to deliver what is under way). The session stays.
   */
  interrupt(migrationUid: string, why: string): void;
  /** Source: what has gone wrong with channels of a migration so far, newest last; a few. */
  troubles(migrationUid: string): string[];
  /** Ends a migration's session on this node, its connections with it, and takes away what it left in the Pod. None: does nothing. */
  close(migrationUid: string): Promise<void>;
}

export interface TargetSession {
  role: 'target';
  migrationUid: string;
  vmi: ObjectRef;
  /** On this node. */
  pod: { name: string; uid: string };
  /** The one node whose worker may come in. */
  sourceNode: string;
  /** Sockets as paths inside the Pod. */
  sockets: Record<MigrationChannel, string>;
}

export interface SourceSession {
  role: 'source';
  migrationUid: string;
  vmi: ObjectRef;
  /** On this node. */
  pod: { name: string; uid: string };
  target: { node: string; address: string; port: number };
}

export type Session = TargetSession | SourceSession;

/**
 * Asks the target's node worker, which asks its launcher. Connected as long as it can be, so that the hand-over does not wait for it; every request has
 * a deadline of seconds. @throws PeerUnreachable, and what the other side's launcher throws
 */
export interface PeerLink {
  /** What the target's launcher knows. */
  inspect(): Promise<MigrationView>;
  /** The source is proven gone: the target's launcher resumes the guest. Safe to repeat. */
  resume(): Promise<MigrationView>;
  close(): void;
}
