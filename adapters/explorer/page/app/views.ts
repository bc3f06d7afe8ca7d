import type { ComponentType } from 'preact'
import type { Apis } from '../api/apis.ts'
import { GraphView } from '../graph/graph-view.tsx'
import { JsonView } from '../json/json-view.tsx'
import { LiveView } from '../live/live-view.tsx'
import { ManageView } from '../manage/manage-view.tsx'
import { WhatIfView } from '../what-if/what-if-view.tsx'
import { WhyView } from '../why/why-view.tsx'

/** A view of the page, as the navigation lists it. */
interface View {
  readonly name: string
  readonly label: string
  readonly show: ComponentType<{ readonly apis: Apis }>
}

export const VIEWS: readonly View[] = [
  { name: 'graph', label: 'Reach', show: GraphView },
  { name: 'why', label: 'Why', show: WhyView },
  { name: 'what-if', label: 'What if', show: WhatIfView },
  { name: 'live', label: 'Live', show: LiveView },
  { name: 'manage', label: 'Manage', show: ManageView },
  { name: 'json', label: 'JSON', show: JsonView },
]
