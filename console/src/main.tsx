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
import './styles/diagram.css';
import './styles/rows.css';
import './styles/explorer.css';
import './styles/forced.css';
import { render } from 'preact';
import { loadConfig } from './api/config.ts';
import { refreshOverview } from './api/overview.ts';
import { App } from './app/app.tsx';
import { currentPage } from './app/routes.ts';

// These requests start before the first render, so that responses and page code load while the frame is drawn.
void refreshOverview();
currentPage.value?.load().catch(() => undefined);
void loadConfig();
const frame = document.getElementById('app');
if (frame !== null) render(<App />, frame);
