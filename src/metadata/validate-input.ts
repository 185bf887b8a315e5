/** `validate_input` of permissions: who has to agree to the input before anything is written. */
import { bool, type Codec, count, defaulted, literal, nonEmptyText, object, required } from './codec.ts';
import { type HeaderDefinition, headersCodec } from './environment-template.ts';

export interface ValidateInput {
  readonly type: 'http';
  readonly definition: {
    /** A template: see `fillTemplate`. */
    readonly url: string;
    readonly headers: readonly HeaderDefinition[];
    /** Seconds. */
    readonly timeout: number;
    readonly forwardClientHeaders: boolean;
  };
}

const DEFAULT_TIMEOUT_S = 10;

const seconds = count('timeout');

export const validateInputCodec: Codec<ValidateInput> = object('ValidateInput', {
  type: required(literal('ValidateInputType', ['http'])),
  definition: required(
    object('ValidateInputHttpDefinition', {
      url: required(nonEmptyText),
      headers: defaulted(headersCodec, () => []),
      timeout: defaulted(seconds, () => DEFAULT_TIMEOUT_S),
      forwardClientHeaders: defaulted(bool, () => false),
    }),
  ),
});
