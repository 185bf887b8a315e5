import { access } from '../api/session.ts';
import { Toasts } from '../parts/toast.tsx';
import '../browser/theme.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

/** The page stays mounted behind the sign-in, so that unsaved text survives. */
export function App() {
  return (
    <>
      <Shell />
      {access.value === 'refused' && <SignIn />}
      <Toasts />
    </>
  );
}
