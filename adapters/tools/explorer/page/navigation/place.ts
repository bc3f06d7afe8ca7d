import { computed, signal } from '@preact/signals'

/** Where in the page somebody is: the view and what it is about, kept in the fragment of the address. */
export interface Place {
  readonly view: string
  readonly about: URLSearchParams
}

const FRAGMENT = signal(location.hash)
addEventListener('hashchange', () => {
  FRAGMENT.value = location.hash
})

export const place = computed<Place>(() => {
  const [view = '', about = ''] = FRAGMENT.value.replace(/^#\/?/, '').split('?')
  return { view, about: new URLSearchParams(about) }
})

/**
 * Members of what the view is about now. Fields that are answered later go on from these: two answers may come before the view is
 * drawn again, and the second one must keep what the first one changed.
 */
export function aboutNow(...names: readonly string[]): Record<string, string | undefined> {
  const { about } = place.peek()
  return Object.fromEntries(names.map((name) => [name, about.get(name) ?? undefined]))
}

/** The address of a place; members without a value are left out. */
export function hrefOf(view: string, about: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(about).flatMap(([name, value]) => (value ? [[name, value]] : []))
  const query = new URLSearchParams(given).toString()
  return query === '' ? `#/${view}` : `#/${view}?${query}`
}

/** Goes to a place, as a link to it would. */
export function go(view: string, about: Readonly<Record<string, string | undefined>> = {}): void {
  const href = hrefOf(view, about)
  location.hash = href
  // The event comes later, and who goes on meanwhile goes on from here.
  FRAGMENT.value = href
}

/** Says in the address what the view is now about, without a step in the history. */
export function stay(view: string, about: Readonly<Record<string, string | undefined>>): void {
  const href = hrefOf(view, about)
  if (href === location.hash) return
  history.replaceState(null, '', href)
  FRAGMENT.value = href
}

/** Takes what follows the path out of the address and the history, and goes to a place by its fragment. */
export function arrive(fragment: string): void {
  history.replaceState(null, '', `${location.pathname}${fragment}`)
  FRAGMENT.value = fragment
}
