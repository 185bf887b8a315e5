/** For states without remote schemas. */
import type { StateOptions } from '../../src/state/create-state.ts';

export const NO_REMOTES: Pick<StateOptions, 'remotes' | 'introspections'> = {
  remotes: { environment: {}, introspect: () => Promise.reject(new Error('this test has no remote schemas')) },
  introspections: { read: async () => [], write: async () => undefined },
};
