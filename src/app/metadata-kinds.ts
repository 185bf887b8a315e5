import { backends } from '../databases/index.ts';
import { kindsOf, type Kinds } from '../metadata/kinds.ts';

/** The kinds of sources that this service has, for whoever reads documents without a service. */
export const metadataKinds: Kinds = kindsOf(backends);
