import type { Page } from 'playwright-core';
import { dialog, unfolded, type Scene } from './scene.ts';

/** The settings. */
export function settingsScenes(): Scene[] {
  return [
    ...['keys', 'projects', 'sites', 'webhooks', 'audit'].map((name) => ({ name, path: `/settings/${name}` })),
    unfolded('new-key', '/settings/keys', 'New key'),
    dialog('revoke-dialog', '/settings/keys', /^Revoke/),
    unfolded('new-project', '/settings/projects', 'New project'),
    unfolded('project', '/settings/projects', /lamp/i),
    unfolded('new-site', '/settings/sites', 'New site'),
    unfolded('site', '/settings/sites', 'Edit'),
    {
      name: 'source-fields',
      path: '/settings/sites',
      async prepare(page) {
        await page.locator('main summary', { hasText: 'Edit' }).first().click();
        await page.getByRole('button', { name: 'Add source' }).click();
        await page.locator('.field-group').waitFor();
      },
    },
    unfolded('new-webhook', '/settings/webhooks', 'New webhook'),
    {
      name: 'webhook-deliveries',
      path: '/settings/webhooks',
      async prepare(page) {
        await page.getByRole('button', { name: 'Deliveries' }).first().click();
        await page.getByRole('row', { name: /webhook\.ping/ }).waitFor();
        await page.locator('.attempts summary').first().click();
      },
    },
    {
      name: 'key-shown-once',
      path: '/settings/keys',
      async prepare(page) {
        await page.getByText('New key', { exact: true }).click();
        await page.getByRole('form', { name: 'New key' }).getByLabel('Name').fill('picture');
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.locator('.shown-once').waitFor();
      },
    },
  ];
}

/** What surrounds every page. */
export function frameScenes(job: string, pull: string): Scene[] {
  const menu = {
    name: 'menu',
    path: '/jobs',
    isOverlay: true,
    async prepare(page: Page) {
      const button = page.getByRole('button', { name: 'Menu' });
      if (await button.isVisible()) await button.click();
    },
  };
  const offline = {
    name: 'offline',
    path: job,
    isOverlay: true,
    async prepare(page: Page) {
      await page.context().setOffline(true);
      await page.locator('.offline-bar').waitFor();
    },
  };
  return [
    menu,
    {
      name: 'palette',
      path: '/jobs',
      isOverlay: true,
      async prepare(page) {
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').getByRole('searchbox').fill('lamp');
        await page.getByRole('menuitem').first().waitFor();
      },
    },
    {
      name: 'shortcuts',
      path: '/jobs',
      isOverlay: true,
      async prepare(page) {
        await page.keyboard.press('?');
        await page.getByRole('dialog').waitFor();
      },
    },
    { name: 'design', path: '/design', prepare: (page) => page.locator('.markdown strong').waitFor() },
    { name: 'not-found', path: '/nope' },
    { name: 'pull-missing', path: `${pull.slice(0, pull.lastIndexOf('/'))}/pr_missing` },
    offline,
  ];
}

/** Pages that a signed-out visitor sees. */
export function publicScenes(): Scene[] {
  return [
    { name: 'sign-in', path: '/jobs' },
    {
      name: 'sign-in-refused',
      path: '/jobs',
      async prepare(page) {
        await page.getByLabel('Admin key').fill('svc_wrong');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('alert').waitFor();
      },
    },
  ];
}

/** The widget on a website, with an answer. */
export function widgetScenes(domain: string, key: string): Scene[] {
  return [
    {
      name: 'widget',
      path: `/widget-demo.html#site=${domain}&key=${key}`,
      isOverlay: true,
      async prepare(page) {
        await page.getByRole('button', { name: 'Ask the documentation' }).click();
        await page.getByRole('textbox', { name: 'Question' }).fill('How do I run a scene?');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Ask again' }).waitFor();
      },
    },
  ];
}

/** The pages while no worker runs. */
export function stoppedScenes(queued: string): Scene[] {
  const isSaid = (page: Page) =>
    page
      .getByText(/No worker/)
      .first()
      .waitFor();
  return [
    { name: 'jobs-no-worker', path: '/jobs', prepare: isSaid },
    { name: 'job-no-worker', path: queued, prepare: isSaid },
  ];
}
