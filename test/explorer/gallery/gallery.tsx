// Every component of the explorer's page on a page of its own, which only tests build: see opened-gallery.ts.
import { type ComponentChildren, render } from 'preact'
import { useState } from 'preact/hooks'
import { apisThrough } from '../../../adapters/tools/explorer/page/api/apis.ts'
import { EntityForm } from '../../../adapters/tools/explorer/page/forms/entity-form.tsx'
import type { FormSchema } from '../../../adapters/tools/explorer/page/forms/form-schemas.ts'
import { ActionButton, ActionProblem } from '../../../adapters/tools/explorer/page/parts/action.tsx'
import { Card, Count } from '../../../adapters/tools/explorer/page/parts/card.tsx'
import { ChipList, ChipsField } from '../../../adapters/tools/explorer/page/parts/chips-field.tsx'
import { Combobox } from '../../../adapters/tools/explorer/page/parts/combobox.tsx'
import { CopyButton } from '../../../adapters/tools/explorer/page/parts/copy-button.tsx'
import {
  AttributeLink,
  EntityLink,
  Joined,
  LinkedText,
  Name,
  Names,
  RoleLinks,
  Time,
} from '../../../adapters/tools/explorer/page/parts/entity-link.tsx'
import { Choice, TextInput, Toggle } from '../../../adapters/tools/explorer/page/parts/fields.tsx'
import { Finder, SearchBox } from '../../../adapters/tools/explorer/page/parts/finder.tsx'
import { NameList, OffsetPager, Pager, ScopeMembers } from '../../../adapters/tools/explorer/page/parts/found-list.tsx'
import { Loaded, NotShown, Problem } from '../../../adapters/tools/explorer/page/parts/loaded.tsx'
import { PlainTable } from '../../../adapters/tools/explorer/page/parts/plain-table.tsx'
import { QrCode } from '../../../adapters/tools/explorer/page/parts/qr-code.tsx'
import { SessionApis } from '../../../adapters/tools/explorer/page/session/session.ts'
import { ACTIONS } from '../../../adapters/tools/explorer/page/table/bulk-actions.ts'
import { BulkDialog } from '../../../adapters/tools/explorer/page/table/bulk-dialog.tsx'
import { state } from '../../../adapters/tools/explorer/page/table/columns.tsx'
import { EntityTable } from '../../../adapters/tools/explorer/page/table/entity-table.tsx'
import { Spark } from '../../../adapters/tools/explorer/page/traffic/circuits-part.tsx'

const NAMES = ['anna', 'ben.okafor-laptop', 'the-laptop-of-the-branch-in-berlin', 'er-london-1', 'wiki']
const ENTITIES = NAMES.map((name, at) => ({ kind: 'identities', id: `id-${at}`, name, status: 'online' }))
const ROWS = ENTITIES.map((one, at) => ({
  ...one,
  ...{ typeId: 'Device', roleAttributes: ['sales', 'berlin'].slice(0, at), disabled: at === 2 },
  hasEdgeRouterConnection: at === 0,
}))
const FOUND = { kind: 'identities', roleAttribute: 'sales', count: 3 }

/** The controller of the gallery: every list has the same entities. */
const APIS = apisThrough(async ({ url }) => {
  const found = { entities: ENTITIES, roleAttributes: [FOUND], isPartial: false }
  const members = { count: ENTITIES.length, members: ENTITIES, nextCursor: null }
  const data = url.includes('/search') ? found : url.includes('/access-map/members') ? members : ROWS
  const pagination = { totalCount: ENTITIES.length, offset: 0, limit: 50 }
  return Response.json({ data, meta: { pagination } })
})

const text = (more: FormSchema = {}): FormSchema => ({ type: 'string', ...more })
const EVERY_FIELD: FormSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text({ description: 'The name of the entity.' }),
    password: text(),
    certPem: text({ maxLength: 65_536 }),
    type: text({ enum: ['Dial', 'Bind'] }),
    startsAt: text({ format: 'date-time' }),
    configTypeId: text(),
    cost: { type: 'integer', minimum: 0, maximum: 65_535, description: 'The cost of a path.' },
    isAdmin: { type: 'boolean', description: 'Whether it may do everything.' },
    roleAttributes: { type: 'array', items: text() },
    identityRoles: { type: 'array', items: text() },
    configs: { type: 'array', items: text() },
    domains: { type: 'array', items: text() },
    permissions: { type: 'array', items: text({ enum: ['admin', 'identity.read'] }) },
    processes: { type: 'array', items: { type: 'object', properties: { path: text() } } },
    address: { type: 'object', properties: { host: text() } },
    tags: { type: 'object', additionalProperties: {} } as FormSchema,
  },
}

const NOTHING = () => undefined
const ANSWER = { data: undefined, earlier: undefined, problem: undefined, isLoading: true, reload: NOTHING }
const REFUSED = 'You may not see or do this: it takes the permission service.read.'
const AWAY = 'The controller was not reached.'
const chips = [
  { value: 'sales', name: '#sales' },
  { value: 'wrong', name: 'onlin:no', isWrong: true },
]

function Dialog() {
  const [isOpen, setOpen] = useState(false)
  const [action] = ACTIONS.filter(({ label }) => label === 'Set a tag')
  const targets = ENTITIES.map(({ id, name }) => ({ id, name, roleAttributes: [] }))
  if (!isOpen || action === undefined)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Open the dialog
      </button>
    )
  return <BulkDialog kind="identities" action={action} targets={targets} onClose={() => setOpen(false)} />
}

function States() {
  const all = (['online', 'down', 'none'] as const).map((tone) => state(() => ({ word: tone, tone })))
  return <p class="toggles">{all.map(({ show }) => show?.({ id: '', name: '', of: {} }))}</p>
}

const GALLERY: Readonly<Record<string, ComponentChildren>> = {
  Buttons: (
    <p class="actions">
      <button type="button">Plain</button>
      <button type="button" class="primary">
        Primary
      </button>
      <button type="button" class="danger">
        Danger
      </button>
      <button type="button" class="quiet">
        Quiet
      </button>
      <button type="button" class="link">
        Link
      </button>
      <button type="button" disabled>
        Disabled
      </button>
      <a class="button" href="#/">
        A place
      </a>
    </p>
  ),
  ActionButton: <ActionButton label="Delete" question="Delete it?" done="Deleted." act={async () => undefined} />,
  ActionProblem: <ActionProblem of={AWAY} />,
  CopyButton: <CopyButton text="text" />,
  Tabs: (
    <p class="tabs">
      <a href="#/" aria-current="page">
        Identities
      </a>
      <a href="#/services">Services</a>
    </p>
  ),
  Notices: (
    <>
      <p class="note">A note.</p>
      <p class="problem">A problem.</p>
      <p class="empty">Nothing is here.</p>
      <p>
        <span class="badge">read-only</span> <kbd>/</kbd> <span class="kind kind-services">service</span>
      </p>
    </>
  ),
  Count: (
    <dl class="counts">
      {['', 'count-good', 'count-bad'].map((tone) => (
        <Count key={tone} label="routers online" tone={tone}>
          3
        </Count>
      ))}
    </dl>
  ),
  States: <States />,
  Spark: <Spark values={[0, 4, 2, 9, 5]} label="Bytes a minute" />,
  Card: <Card title="A card">Its content.</Card>,
  Name: <Name of={'tool\u202egnp.exe'} />,
  EntityLink: <EntityLink kind="services" id="id" name="wiki" />,
  AttributeLink: <AttributeLink kind="identities" attribute="sales" />,
  RoleLinks: (
    <RoleLinks kind="identities" roles={NAMES.map((name) => ({ role: `@${name}`, name: `@${name}` }))} most={2} />
  ),
  Joined: <Joined of={ENTITIES}>{({ name }) => name}</Joined>,
  Names: <Names kind="identities" of={[...ENTITIES, { id: 'last', name: 'last' }]} />,
  LinkedText: <LinkedText text="'anna' dials 'wiki' since 2026-01-04T08:00:00Z." entities={ENTITIES} />,
  Time: <Time at="2026-01-04T08:00:00Z" />,
  ChipList: <ChipList label="Chips" chips={chips} take={(name) => `Take ${name} away`} onTake={NOTHING} />,
  ChipsField: <ChipsField label="Role attributes" chips={chips} kind="identities" of="attributes" onChange={NOTHING} />,
  TextInput: <TextInput label="Name" value="anna" onChange={NOTHING} />,
  Toggle: <Toggle label="Enabled" isOn onChange={NOTHING} />,
  Choice: <Choice label="Type" value="Dial" of={{ Dial: 'may dial', Bind: 'may bind' }} onChange={NOTHING} />,
  Combobox: (
    <Combobox
      label="Somebody"
      search={async () => ({ options: ENTITIES, isPartial: true })}
      onPick={({ name }) => name}
    />
  ),
  Finder: <Finder label="Identity" kinds={['identities']} onPick={NOTHING} />,
  SearchBox: <SearchBox />,
  Loaded: (
    <>
      <Loaded answer={ANSWER}>{NOTHING}</Loaded>
      <Loaded answer={{ ...ANSWER, data: [], isLoading: false }} isEmpty={() => true} empty="Nothing is called so.">
        {NOTHING}
      </Loaded>
    </>
  ),
  Problem: (
    <>
      <Problem of={{ ...ANSWER, problem: AWAY }} />
      <Problem of={{ ...ANSWER, problem: REFUSED }} />
    </>
  ),
  NotShown: <NotShown />,
  OffsetPager: <OffsetPager offset={50} size={50} total={120} onTurn={NOTHING} />,
  Pager: <Pager cursors={['one']} nextCursor="three" onTurn={NOTHING} />,
  NameList: <NameList kind="identities" />,
  ScopeMembers: <ScopeMembers kind="identities" scope="all" />,
  PlainTable: (
    <PlainTable
      rows={ENTITIES}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Id', as: 'number', cell: ({ id }) => id },
      ]}
    />
  ),
  Table: <EntityTable kind="identities" view="json" />,
  Fields: (
    <EntityForm
      kind="posture-checks"
      schema={EVERY_FIELD}
      isJson={false}
      onDone={NOTHING}
      given={{ processes: [{}] }}
    />
  ),
  QrCode: <QrCode text="portcullis" label="QR code" />,
  Dialog: <Dialog />,
}

const ROOT = document.getElementById('page')
if (ROOT)
  render(
    <SessionApis.Provider value={APIS}>
      <main class="gallery">
        <div class="bar">
          <h1>Gallery</h1>
        </div>
        <div class="what-if-body">
          {Object.entries(GALLERY).map(([name, shown]) => (
            <Card key={name} title={name}>
              {shown}
            </Card>
          ))}
        </div>
      </main>
    </SessionApis.Provider>,
    ROOT,
  )
