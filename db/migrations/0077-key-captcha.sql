-- CAPTCHA that readers of a public key must solve, and the secret that verifies their responses (encrypted)
alter table api_keys
  add column captcha text check (captcha in ('turnstile', 'hcaptcha')),
  add column captcha_secret text,
  add check ((captcha is null) = (captcha_secret is null));
