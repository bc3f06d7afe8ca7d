import { computed, signal } from '@preact/signals'

/** The user's place in the page: the view and its subject, kept in the fragment of the address. */
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
 * The present members of the view's subject. Fields that are answered later go on from these: two answers may come before the view is drawn
 * again, and the second answer must keep the change of the first.
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
  // The event comes later; a next step meanwhile starts from here.
  FRAGMENT.value = href
}

/** Puts the view's present subject into the address, without a step in the history. */
export function stay(view: string, about: Readonly<Record<string, string | undefined>>): void {
  const href = hrefOf(view, about)
  if (href === location.hash) return
  history.replaceState(null, '', href)
  FRAGMENT.value = href
}

/** Removes the query and the fragment from the address and the history, and goes to the place of the fragment. */
export function arrive(fragment: string): void {
  history.replaceState(null, '', `${location.pathname}${fragment}`)
  FRAGMENT.value = fragment
}
