/** Returns whether a key press is the hotkey, such as `mod+i` or `shift+mod+/`. Keys typed into a field never are. */
export function isHotkey(event: KeyboardEvent, hotkey: string): boolean {
  if (hotkey === 'none' || isComposing(event) || event.repeat) return false;
  const parts = hotkey.toLowerCase().split('+');
  const has = (name: string) => parts.includes(name);
  const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);
  const modifiersMatch =
    event.metaKey === (has('meta') || (has('mod') && isMac)) &&
    event.ctrlKey === (has('ctrl') || (has('mod') && !isMac)) &&
    event.altKey === has('alt') &&
    event.shiftKey === has('shift');
  return modifiersMatch && event.key.toLowerCase() === parts.at(-1) && !isTyping(event);
}

/** Returns whether a key press belongs to an input method. In Safari, the one that confirms a text comes after its end, as key 229. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
  );
}
