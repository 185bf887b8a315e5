import './styles/tokens.css';
import './styles/reset.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/pages.css';
import { render } from 'preact';
import { App } from './app/app.tsx';

const place = document.getElementById('app');
if (place !== null) render(<App />, place);
