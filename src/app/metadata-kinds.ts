import type { Backend } from '../backend/backend.ts';
import { backends } from '../databases/index.ts';
import { kindsOf, type Kinds } from '../metadata/kinds.ts';

/** Kinds of sources of this service, for code that reads documents and migrates databases without a service. */
export const metadataKinds: Kinds<Backend> = kindsOf(backends);
