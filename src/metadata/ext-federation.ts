import { type Codec, literal, object, required } from './codec.ts';

/** Setting of tables that are entities of a federated graph. */
export interface ExtFederationConfig {
  readonly enable: 'v1';
}

export const extFederationConfigCodec: Codec<ExtFederationConfig> = object('ExtFederationConfig', {
  enable: required(literal('ExtFederationVersion', ['v1'])),
});
