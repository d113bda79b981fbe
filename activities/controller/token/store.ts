import type { ObjectRef } from '../../../api/contract/refs.ts';
import { tokenName } from '../../../api/contract/refs.ts';
import type { Lease } from '../../../api/kubernetes/types.ts';
import type { Token } from '../../facts/token.ts';
import { leaseOf, tokenOf } from '../../facts/token.ts';
import { failure } from '../../failures.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import type { KubePort } from '../../kube/port.ts';
import { KubeError } from '../../kube/port.ts';

/** A token and the Lease it was read from. */
export interface StoredToken {
  lease: Lease;
  token: Token;
}

/** A token to write. */
export interface WantedToken {
  token: Token;
  /** A live look, just now, found no other launcher Pod of this VM that can run a domain. */
  isAlone?: boolean;
}

/** Undefined: the token stays as it is. */
type Decide = (read: StoredToken | undefined) => WantedToken | undefined | Promise<WantedToken | undefined>;

interface Seen {
  /** Undefined: there was none. */
  read: StoredToken | undefined;
  isAlone: boolean;
}

/** So many tokens are remembered. */
const REMEMBERED = 2_000;

/**
 * Run tokens as the API server has them. What this process has seen of a token last saves the read before a write: a write carries the version that
 * was seen, and one that somebody else has written over since is refused.
 */
export class Tokens {
  readonly #kube: Pick<KubePort, 'get' | 'create' | 'replace' | 'remove'>;
  readonly #seen = new Map<string, Seen>();

  constructor(kube: Pick<KubePort, 'get' | 'create' | 'replace' | 'remove'>) {
    this.#kube = kube;
  }

  /** Live read. */
  async read(vmi: ObjectRef): Promise<StoredToken | undefined> {
    const lease = await this.#kube.get('Lease', nameOf(vmi));
    return this.#remember(vmi, lease);
  }

  /** What was seen of it last; undefined: nothing was. No evidence of anything. */
  seen(vmi: ObjectRef): Seen | undefined {
    return this.#seen.get(keyOf(vmi));
  }

  /** Writes a token over the one that was read (or as a new Lease): whoever wrote in between makes this a conflict. @throws KubeError */
  async write(vmi: ObjectRef, { token, isAlone = false }: WantedToken, read?: StoredToken): Promise<Token> {
    const lease = leaseOf(token, vmi, read?.lease);
    // Of a write without an answer it is not known what it did.
    this.#seen.delete(keyOf(vmi));
    const written = await (read === undefined ? this.#kube.create('Lease', lease) : this.#kube.replace('Lease', lease));
    this.#remember(vmi, written, isAlone);
    return tokenOf(written);
  }

  /**
   * Decides about the token and writes what was decided. What was seen last is enough to decide on when it is written over, in that very version; what
   * comes to nothing, a refusal and a conflict are decided anew, on a live read.
   */
  async change(vmi: ObjectRef, decide: Decide): Promise<Token | undefined> {
    const seen = this.seen(vmi);
    if (seen !== undefined) {
      try {
        const wanted = await decide(seen.read);
        if (wanted !== undefined) return await this.write(vmi, wanted, seen.read);
      } catch (error) {
        if (error instanceof KubeError && !isConflict(error) && !isAlreadyExists(error) && !isNotFound(error))
          throw error;
      }
    }
    const read = await this.read(vmi);
    const wanted = await decide(read);
    return wanted === undefined ? read?.token : this.write(vmi, wanted, read);
  }

  /** Removes a token that nobody holds, so that nothing is left of a VM that is gone. */
  async dropFree(vmi: ObjectRef): Promise<void> {
    const read = await this.read(vmi);
    if (read === undefined || read.token.holder !== undefined) return;
    const { uid = '', resourceVersion = '' } = read.lease.metadata ?? {};
    this.#seen.delete(keyOf(vmi));
    await this.#kube.remove('Lease', nameOf(vmi), { uid, resourceVersion });
  }

  #remember(vmi: ObjectRef, lease: Lease | undefined, isAlone = false): StoredToken | undefined {
    const key = keyOf(vmi);
    const read = lease === undefined ? undefined : { lease, token: tokenOf(lease) };
    this.#seen.delete(key);
    this.#seen.set(key, { read, isAlone });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest);
    return read;
  }
}

const nameOf = (vmi: ObjectRef): { namespace: string; name: string } => ({
  namespace: vmi.namespace,
  name: tokenName(vmi),
});

const keyOf = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;

/** There is no token where there has to be one. */
export const goneToken = ({ namespace, name }: ObjectRef): Error =>
  failure('StaleToken', `The run token of ${namespace}/${name} is gone.`);

/** The token without a holder. The epoch stays, and so does the migration that may not move it again. */
export const freed = ({ epoch, settled }: Token): Token => ({ epoch, ...(settled === undefined ? {} : { settled }) });
