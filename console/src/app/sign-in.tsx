import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf } from '../api/failure.ts';
import { send } from '../api/http.ts';
import { signIn, signInReason } from '../api/session.ts';
import { docsHref } from '../browser/place.ts';
import { Button } from '../parts/button.tsx';
import { Check, Field } from '../parts/field.tsx';
import { Brand } from './brand.tsx';
import { InstanceLabel } from './instance-label.tsx';

/** Form for the admin secret, which is checked before it is used. */
export function SignIn() {
  const [secret, setSecret] = useState('');
  const [keep, setKeep] = useState(false);
  const [message, setMessage] = useState<string>();
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
    setMessage(undefined);
    try {
      const { status } = await send('v1alpha1/config', { method: 'GET', withoutSecret: true, headers: { 'X-Svc-Admin-Secret': secret } });
      if (status === 401 || status === 403) setMessage('Invalid admin secret.');
      else signIn(secret, keep);
    } catch (error) {
      setMessage(failureOf(error).message);
    }
    setBusy(false);
  };
  return (
    <dialog ref={cover} class="sign-in-cover" aria-label="Sign in" onCancel={(event) => event.preventDefault()}>
      <div class="sign-in">
        <form class="card" onSubmit={(event) => void submit(event)}>
          <div class="row">
            <Brand />
            <span class="grow" />
            <InstanceLabel />
          </div>
          <div class="stack-tight">
            <h1>Sign in</h1>
            <p class="muted">{signInReason.value ?? 'Enter the admin secret of this service.'}</p>
          </div>
          <input type="text" name="username" autocomplete="username" value="admin" readOnly hidden />
          <Field label="Admin secret" error={message}>
            {(id) => (
              <input
                id={id}
                class="input"
                type="password"
                name="password"
                autocomplete="current-password"
                autofocus
                required
                aria-invalid={message !== undefined || undefined}
                value={secret}
                onInput={(event) => setSecret(event.currentTarget.value)}
              />
            )}
          </Field>
          <Check
            label="Keep for this tab"
            title="Otherwise a reload asks again. The secret is never kept beyond this tab."
            checked={keep}
            onChange={setKeep}
          />
          <Button kind="primary" type="submit" refusal={isBusy ? 'Signing in …' : undefined}>
            Sign in
          </Button>
          <p class="muted small">
            The secret stays in the memory of this page and is sent only to this service. It is removed after 30 minutes of inactivity.{' '}
            <a href={docsHref('console.html#sign-in')} target="_blank" rel="noreferrer">
              Documentation
            </a>
          </p>
        </form>
      </div>
    </dialog>
  );
}
