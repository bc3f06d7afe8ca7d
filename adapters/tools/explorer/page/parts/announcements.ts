import { signal } from '@preact/signals'

/** Texts for screen readers, without a word on the screen moving. */
export const announced = signal('')

/** Announces to screen readers a change that is otherwise only visible. */
export function announce(text: string): void {
  announced.value = text
}
