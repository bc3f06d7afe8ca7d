import { signal } from '@preact/signals'

/** Texts for screen readers, without a word on the screen moving. */
export const announced = signal('')

/** Tells screen readers something that others see for themselves. */
export function announce(text: string): void {
  announced.value = text
}
