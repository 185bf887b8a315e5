/**
 * How long a test waits for what is to happen, as options of `vi.waitFor` and `expect.poll`: far longer than it takes where much else
 * has the processors. The wait is over as soon as it happens, so that a long limit costs nothing.
 */
export const WAIT = { timeout: 30_000, interval: 30 } as const;
