import { isReadOnly } from '../api/settings.ts';
import { TextField } from '../parts/text-field.tsx';

/** Environment variable with the secret that signs the calls of a webhook; empty for none. */
export function SigningSecret({
  value,
  placeholder,
  onInput,
}: {
  readonly value: string;
  readonly placeholder: string;
  onInput(value: string): void;
}) {
  return (
    <TextField
      label="Signing secret (environment variable)"
      hint={
        <>
          Signs each call in <code>X-Svc-Signature</code> with the secret in this variable of the service. Leave empty for none.
        </>
      }
      class="narrow-input"
      value={value}
      placeholder={placeholder}
      readOnly={isReadOnly}
      onInput={onInput}
    />
  );
}
