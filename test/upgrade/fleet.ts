/** Instances of two releases behind a balancer that sends requests only to instances that take part. */
import { type ServedProcess, serveInProcess } from '../support/served-process.ts';

export interface Instance {
  readonly release: 'earlier' | 'current';
  readonly url: string;
  readonly process: ServedProcess;
}

export class Fleet {
  readonly #databaseUrl: string;
  readonly #mains: Readonly<Record<Instance['release'], string | undefined>>;
  readonly #others: Readonly<Record<string, string>>;
  readonly #active: Instance[] = [];
  #next = 0;

  /** @param others variables of all instances without the prefix of the service */
  constructor(databaseUrl: string, earlierMain: string, others: Readonly<Record<string, string>>) {
    this.#databaseUrl = databaseUrl;
    this.#mains = { earlier: earlierMain, current: undefined };
    this.#others = others;
  }

  get instances(): readonly Instance[] {
    return this.#active;
  }

  /** Returns the instance for the next request: each in turn. */
  pick(): Instance {
    this.#next += 1;
    const instance = this.#active[this.#next % this.#active.length];
    if (instance === undefined) throw new Error('no instance is active');
    return instance;
  }

  /** Starts an instance and waits until it takes part. */
  async add(release: Instance['release']): Promise<void> {
    // As behind a balancer: an instance that stops serves requests until the balancer has noticed.
    const process = serveInProcess(
      this.#databaseUrl,
      { SHUTDOWN_DELAY: '1' },
      [],
      this.#others,
      ...(this.#mains[release] === undefined ? [] : [this.#mains[release]]),
    );
    const url = await process.listening;
    this.#active.push({ release, url, process });
  }

  /** Stops the oldest instance of a release. */
  async remove(release: Instance['release']): Promise<void> {
    const index = this.#active.findIndex((instance) => instance.release === release);
    const [instance] = this.#active.splice(index, 1);
    instance?.process.kill('SIGTERM');
    await instance?.process.ended;
  }

  async stop(): Promise<void> {
    const all = this.#active.splice(0);
    for (const { process } of all) process.kill('SIGTERM');
    await Promise.all(all.map(({ process }) => process.ended));
  }
}
