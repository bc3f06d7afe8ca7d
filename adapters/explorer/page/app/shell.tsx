import { useEffect, useRef } from 'preact/hooks'
import { hrefOf, place } from '../navigation/place.ts'
import { announced } from '../parts/announcements.ts'
import { Name } from '../parts/name.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { logOut, type OpenSession } from '../session/session.ts'
import { VIEWS } from './views.ts'

/** Navigation, the view that is open, and what is said aloud of it. */
export function Shell({ session }: { session: OpenSession }) {
  const open = VIEWS.find(({ name }) => name === place.value.view) ?? VIEWS[0]
  const main = useRef<HTMLElement>(null)
  const label = open?.label ?? ''
  useEffect(() => {
    document.title = `${label} · Portcullis explorer`
  }, [label])
  return (
    <div class="shell">
      <a class="skip" href={location.hash} onClick={(event) => skipTo(event, main.current)}>
        Skip to the view
      </a>
      <header class="top">
        <span class="brand">
          <img src="./icon.svg" alt="" width="22" height="22" />
          <span>Portcullis</span>
        </span>
        <nav aria-label="Views">
          {VIEWS.filter(({ isHidden }) => isHidden !== true).map(({ name, label }) => (
            <a key={name} href={hrefOf(name)} aria-current={name === open?.name ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <SearchBox apis={session.apis} />
        <span class="who">
          <span class="who-name" title={session.isAdmin ? 'Administrator' : 'Sees what its permissions allow'}>
            <Name of={session.name} />
          </span>
          <button type="button" class="quiet" onClick={logOut}>
            Log out
          </button>
        </span>
      </header>
      <main id="view" ref={main} tabIndex={-1} aria-label={label}>
        {open && <open.show key={open.name} apis={session.apis} />}
      </main>
      <p class="unseen" aria-live="polite">
        {announced.value}
      </p>
    </div>
  )
}

function skipTo(event: Event, main: HTMLElement | null): void {
  event.preventDefault()
  main?.focus()
}
