/**
 * Timeout of waits for an event, as options of `vi.waitFor` and `expect.poll`: far longer than the event takes on a busy
 * machine. A wait ends as soon as the event happens, so that a long timeout costs nothing.
 */
export const WAIT = { timeout: 30_000, interval: 30 } as const;
