import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf } from '../api/failure.ts';
import { send } from '../api/http.ts';
import { signIn, signInReason } from '../api/session.ts';
import { label } from '../api/settings.ts';
import { Button } from '../parts/button.tsx';
import { Check, Field } from '../parts/field.tsx';
import { Brand } from './brand.tsx';

/** Asks for the secret, and tries it before it is taken. */
export function SignIn() {
  const [secret, setSecret] = useState('');
  const [keep, setKeep] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const cover = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = cover;
    current?.showModal();
    return () => current?.close();
  }, []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setWrong(undefined);
    try {
      const { status } = await send('v1alpha1/config', { method: 'GET', asStranger: true, headers: { 'X-Svc-Admin-Secret': secret } });
      if (status === 401 || status === 403) setWrong('The service does not accept this secret.');
      else signIn(secret, keep);
    } catch (error) {
      setWrong(failureOf(error).message);
    }
    setBusy(false);
  };
  return (
    <dialog ref={cover} class="sign-in-cover" aria-label="Sign in" onCancel={(event) => event.preventDefault()}>
      <div class="sign-in">
        <form class="card" onSubmit={(event) => void submit(event)}>
          <div class="row">
            <Brand />
            {label !== '' && <span class="instance end">{label}</span>}
          </div>
          <div class="stack-tight">
            <h1>Sign in</h1>
            <p class="muted">{signInReason.value ?? 'With the admin secret of this service.'}</p>
          </div>
          <input type="text" name="username" autocomplete="username" value="admin" readOnly hidden />
          <Field label="Admin secret" wrong={wrong}>
            {(id) => (
              <input
                id={id}
                class="input"
                type="password"
                name="password"
                autocomplete="current-password"
                autofocus
                required
                aria-invalid={wrong !== undefined || undefined}
                value={secret}
                onInput={(event) => setSecret(event.currentTarget.value)}
              />
            )}
          </Field>
          <Check
            label="Keep for this tab"
            title="Otherwise a reload asks again. It is never kept beyond this tab."
            checked={keep}
            onChange={setKeep}
          />
          <Button kind="primary" type="submit" refusal={isBusy ? 'Asking the service' : undefined}>
            Sign in
          </Button>
          <p class="muted small">
            The secret stays in this page’s memory and is sent to this service alone. After 30 minutes without use it is forgotten.
          </p>
        </form>
      </div>
    </dialog>
  );
}
