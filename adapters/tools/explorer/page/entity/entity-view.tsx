import type { ComponentType } from 'preact'
import { place } from '../navigation/place.ts'
import { AttributePage } from './attribute-page.tsx'
import { CheckPage } from './check-page.tsx'
import { IdentityPage } from './identity-page.tsx'
import { PolicyPage } from './policy-page.tsx'
import { RouterPage } from './router-page.tsx'
import { ServicePage } from './service-page.tsx'

/** The pages of entities by the view that the address names. */
const PAGES: Readonly<Record<string, ComponentType<{ readonly id: string }>>> = {
  identity: IdentityPage,
  service: ServicePage,
  router: RouterPage,
  policy: (props) => <PolicyPage {...props} kind="service-policies" />,
  'edge-router-policy': (props) => <PolicyPage {...props} kind="edge-router-policies" />,
  'service-edge-router-policy': (props) => <PolicyPage {...props} kind="service-edge-router-policies" />,
  check: CheckPage,
}

/** The page of the entity, or the role attribute, that the address names. */
export function EntityView() {
  const { view, about } = place.value
  if (view === 'attribute') {
    const attribute = about.get('of') ?? ''
    const kind = about.get('kind') ?? 'identities'
    return <AttributePage key={`${kind} ${attribute}`} kind={kind} attribute={attribute} />
  }
  const Page = PAGES[view]
  const id = about.get('id')
  if (Page === undefined || id === null) return <p class="empty">The address names nothing. Type / to search.</p>
  return <Page key={`${view} ${id}`} id={id} />
}
