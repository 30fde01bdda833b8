/**
 * Removes the error of a field once its value is valid. React Aria would wait until the field loses the focus, which it
 * does not when the form is sent with Enter.
 */
export function correctErrorsWhileTyping(): void {
  addEventListener('input', ({ target }) => {
    if (target instanceof HTMLElement && target.matches('[aria-invalid=true]'))
      target.dispatchEvent(new Event('change'));
  });
}
