import type { Json } from '../util/json.ts';

export type NamingConvention = 'svc-default' | 'graphql-default';

export interface SourceCustomization {
  readonly rootFields: { readonly namespace?: string; readonly prefix?: string; readonly suffix?: string };
  readonly typeNames: { readonly prefix?: string; readonly suffix?: string };
  readonly namingConvention?: NamingConvention;
}

export const NO_CUSTOMIZATION: SourceCustomization = { rootFields: {}, typeNames: {} };

export interface Source {
  readonly name: string;
  /** Canonical kind: `pg`. */
  readonly kind: string;
  /** Decoded by the kind's own codec; opaque here. */
  readonly configuration: unknown;
  readonly customization: SourceCustomization;
  readonly healthCheck?: Json;
}
