import type { ComponentType } from 'preact'
import { ChangesView } from '../changes/changes-view.tsx'
import { EntityView } from '../entity/entity-view.tsx'
import { isOfNothing } from '../events/network-event.ts'
import { LiveView } from '../live/live-view.tsx'
import { ManageView } from '../manage/manage-view.tsx'
import { MapView } from '../map/map-view.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { StartView } from '../start/start-view.tsx'
import { WhatIfView } from '../what-if/what-if-view.tsx'
import { WhyView } from '../why/why-view.tsx'

/** A view of the page, as the navigation lists it. */
export interface View {
  readonly name: string
  readonly label: string
  /** Whether only links lead to it. */
  readonly isHidden?: boolean
  readonly show: ComponentType
}

/** The pages of single entities, with their kinds in words. */
const ENTITY_VIEWS: Readonly<Record<string, string>> = {
  identity: 'Identity',
  service: 'Service',
  router: 'Edge router',
  policy: 'Service policy',
  'edge-router-policy': 'Edge router policy',
  'service-edge-router-policy': 'Service edge router policy',
  check: 'Posture check',
  attribute: 'Role attribute',
}

export const VIEWS: readonly View[] = [
  { name: 'start', label: 'Overview', show: StartView },
  { name: 'graph', label: 'Reach', show: MapView },
  { name: 'why', label: 'Why', show: WhyView },
  { name: 'what-if', label: 'What if', show: WhatIfView },
  { name: 'live', label: 'Live', show: LiveView },
  { name: 'changes', label: 'Changes', show: ChangesView },
  { name: 'manage', label: 'Manage', show: ManageView },
  { name: 'json', label: 'Set up', show: lazily(() => import('../json/json-view.tsx')) },
  { name: 'account', label: 'Your account', isHidden: true, show: lazily(() => import('../account/account-view.tsx')) },
  ...Object.entries(ENTITY_VIEWS).map(([name, label]) => ({
    name,
    label,
    isHidden: true,
    show: EntityView,
  })),
]

/** A view whose code is loaded when it is opened: most readers of the first view never need it. */
function lazily(load: () => Promise<{ readonly View: ComponentType }>): ComponentType {
  return () => <Loaded answer={useAnswer(load, [], isOfNothing)}>{({ View }) => <View />}</Loaded>
}
