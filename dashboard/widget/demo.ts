import { valueIn } from './unknown-fields.ts';

/** Loads the widget as a site would, with the site and the public key from the address: `#site=…&key=…`. */

const given = new URLSearchParams(location.hash.slice(1));
const [site, key] = [given.get('site'), given.get('key')];
if (site === null || key === null) {
  const status = document.querySelector('#status');
  if (status !== null) {
    status.textContent = 'Add a site and an assistant API key to the URL: /widget-demo.html#site=docs&key=svc_dsc_…';
  }
} else if (valueIn(window, 'Docket') === undefined) {
  const script = document.createElement('script');
  script.src = '/widget.js';
  Object.assign(script.dataset, { site, key, questions: given.get('questions') ?? 'What can you help me with?' });
  document.body.append(script);
}
