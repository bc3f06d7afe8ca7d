import type { ComponentType } from 'preact'
import { ChangesView } from '../changes/changes-view.tsx'
import { EntityView } from '../entity/entity-view.tsx'
import { isOfNothing } from '../events/network-event.ts'
import { LiveView } from '../live/live-view.tsx'
import { ManageView } from '../manage/manage-view.tsx'
import { MapView } from '../map/map-view.tsx'
import { VIEW_OF } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { kindName, wordsOf } from '../parts/words.ts'
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
  { name: 'attribute', label: 'Role attribute', isHidden: true, show: EntityView },
  ...Object.entries(VIEW_OF).map(([kind, name]) => {
    return { name, label: wordsOf(kindName(kind)), isHidden: true, show: EntityView }
  }),
]

/** A view whose code is loaded when it is opened: most readers of the first view never need it. */
function lazily(load: () => Promise<{ readonly View: ComponentType }>): ComponentType {
  return () => <Loaded answer={useAnswer(load, [], isOfNothing)}>{({ View }) => <View />}</Loaded>
}
