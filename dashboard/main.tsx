import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { correctErrorsWhileTyping } from './components/correct-errors.ts';
import { queryClient } from './queries.ts';
import { router } from './router.tsx';
import { applyTheme, storedTheme } from './theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/jobs.css';

applyTheme(storedTheme());
correctErrorsWhileTyping();
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
