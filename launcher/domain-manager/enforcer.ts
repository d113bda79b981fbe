/** How the enforcer reaches the domain. Neither may throw: what goes wrong is logged there and tried again here. */
export interface ShutdownPorts {
  /** False once the domain is known to be gone. */
  isActive: () => boolean;
  /** Asks the guest to shut down. Need not wait for an answer. */
  signal: () => void;
  /** Ends the domain; resolves when it is known to be gone, or when this attempt has failed. */
  destroy: () => Promise<void>;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** KubeVirt's interval too. */
const SIGNAL_EVERY_MS = 5_000;
const DESTROY_RETRY_MS = 200;

/**
 * Sees a shutdown through: signals the guest now and every 5 s, and destroys the domain at the deadline, not before. Does not know who wants it;
 * neither node worker nor Temporal has to be there.
 */
export class ShutdownEnforcer {
  readonly #ports: ShutdownPorts;
  #deadline = Infinity;
  #wake: () => void = () => undefined;
  #running = false;

  constructor(ports: ShutdownPorts) {
    this.#ports = ports;
  }

  /** Starts, or brings the deadline (milliseconds since 1970) forward; a later one changes nothing. Returns the one that holds. */
  enforce(deadline: number): number {
    this.#deadline = Math.min(this.#deadline, deadline);
    this.#wake();
    if (!this.#running) void this.#run();
    return this.#deadline;
  }

  /** To be called when the domain may have ended, so that nothing waits in vain. */
  domainChanged(): void {
    this.#wake();
  }

  async #run(): Promise<void> {
    const { isActive, signal, destroy, now } = this.#ports;
    let nextSignal = now();
    this.#running = true;
    while (isActive()) {
      if (now() >= this.#deadline) {
        await destroy();
        if (isActive()) await this.#sleep(DESTROY_RETRY_MS);
      } else {
        if (now() >= nextSignal) {
          signal();
          nextSignal = now() + SIGNAL_EVERY_MS;
        }
        await this.#sleep(Math.min(nextSignal, this.#deadline) - now());
      }
    }
    this.#running = false;
  }

  /** Sleeps up to `ms`, or until something has changed. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, ms));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
