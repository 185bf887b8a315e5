import type { Backend } from '../backend/backend.ts';
import { backends } from '../databases/index.ts';
import { kindsOf, type Kinds } from '../metadata/kinds.ts';

/** All database kinds, for commands that read metadata files or migrate databases without a service. */
export const metadataKinds: Kinds<Backend> = kindsOf(backends);
