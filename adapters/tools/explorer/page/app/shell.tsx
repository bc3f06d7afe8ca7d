import { useEffect, useRef } from 'preact/hooks'
import { liveState, othersChange } from '../events/network-news.ts'
import { EventSentence } from '../live/event-list.tsx'
import { hrefOf, place } from '../navigation/place.ts'
import { announced } from '../parts/action.tsx'
import { Name } from '../parts/entity-link.tsx'
import { SearchBox } from '../parts/finder.tsx'
import { lackedBy, logOut, type OpenSession } from '../session/session.ts'
import { VIEWS } from './views.tsx'

/** The navigation, the open view, and its announcements for screen readers. */
export function Shell({ session: user }: { session: OpenSession }) {
  const open = VIEWS.find(({ name }) => name === place.value.view) ?? VIEWS[0]
  const isUnknown = place.value.view !== '' && open?.name !== place.value.view
  const main = useRef<HTMLElement>(null)
  const label = open?.label ?? ''
  const lacked = open && lackedBy(open.name)
  useEffect(() => {
    document.title = `${label} · Portcullis explorer`
  }, [label])
  return (
    <div class="shell">
      <header class="top">
        <a class="skip" href={location.hash} onClick={(event) => skipTo(event, main.current)}>
          Skip to what is shown
        </a>
        <span class="brand">
          <img src="./icon.svg" alt="" width="22" height="22" />
          <span>Portcullis</span>
        </span>
        <nav aria-label="Views">
          {VIEWS.filter((view) => view.isHidden !== true && lackedBy(view.name) === undefined).map(
            ({ name, label }) => (
              <a key={name} href={hrefOf(name)} aria-current={name === open?.name ? 'page' : undefined}>
                {label}
              </a>
            ),
          )}
        </nav>
        <SearchBox />
        <span class="who">
          <a
            class="who-name"
            href={hrefOf('account')}
            title={user.isAdmin ? 'Administrator: password and second factor' : 'Password and second factor'}
          >
            <Name of={user.name} />
          </a>
          {!user.isAdmin && !user.permissions.some(isWriting) && <span class="badge">read-only</span>}
          <button type="button" class="quiet" onClick={logOut}>
            Log out
          </button>
        </span>
      </header>
      <main id="view" ref={main} tabIndex={-1} aria-label={label}>
        {isUnknown && <p class="note">There is no view of the name {place.value.view}.</p>}
        {lacked !== undefined && (
          <p class="empty">
            {label} takes {lacked}. An administrator can give you that.
          </p>
        )}
        {open && lacked === undefined && <open.show key={open.name} />}
      </main>
      <News />
      <p class="unseen" aria-live="polite">
        {announced.value}
      </p>
    </div>
  )
}

/** Milliseconds during which a change was made just now. */
const JUST_NOW_MS = 30_000

/** That somebody else changed what is in sight, or that nothing is heard of such changes. */
function News() {
  const event = othersChange.value
  const at = place.value
  useEffect(() => {
    othersChange.value = undefined
  }, [at])
  useEffect(() => {
    const timer = setTimeout(() => {
      othersChange.value = undefined
    }, JUST_NOW_MS)
    return () => clearTimeout(timer)
  }, [event])
  const { problem } = liveState.value
  return (
    <div class="news" role="status">
      {problem !== undefined && <p class="news-away">Not live, trying again.</p>}
      {event && (
        <p>
          <EventSentence event={event} />, just now
        </p>
      )}
    </div>
  )
}

/** Every permission except read permissions allows some writes. */
function isWriting(permission: string): boolean {
  return permission !== 'admin_readonly' && !permission.endsWith('.read')
}

/** Leads past the navigation, and past the fields of a view that marks where its results begin. */
function skipTo(event: Event, main: HTMLElement | null): void {
  event.preventDefault()
  const results = main?.querySelector('[data-results]')
  const target = results instanceof HTMLElement ? results : main
  if (!target) return
  target.tabIndex = -1
  target.focus()
}
