/** `validate_input` of permissions: a hook that has to accept the input before the write. */
import { bool, type Codec, nonNegativeInt, defaulted, literal, nonEmptyText, object, required } from './codec.ts';
import { type HeaderDefinition, headersCodec } from './environment-template.ts';

export interface ValidateInput {
  readonly type: 'http';
  readonly definition: {
    /** URL template; see `fillTemplate`. */
    readonly url: string;
    readonly headers: readonly HeaderDefinition[];
    /** Timeout, in seconds. */
    readonly timeout: number;
    readonly forwardClientHeaders: boolean;
  };
}

const DEFAULT_TIMEOUT_S = 10;

const seconds = nonNegativeInt('timeout');

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
