import { signal } from '@preact/signals';

/** Dialogs of the frame. */
export type Opened = 'palette' | 'keys' | 'changes';

export const opened = signal<Opened | null>(null);
