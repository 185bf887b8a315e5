import './styles/tokens.css';
import './styles/reset.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/messages.css';
import './styles/surfaces.css';
import './styles/navigation.css';
import './styles/tables.css';
import './styles/code.css';
import './styles/forms.css';
import './styles/shell.css';
import './styles/home.css';
import './styles/data.css';
import './styles/explorer.css';
import { render } from 'preact';
import { App } from './app/app.tsx';

const place = document.getElementById('app');
if (place !== null) render(<App />, place);
