import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { listed } from '../../../../../src/base/text.ts'

/** The parts in sight that the user may not read, with the permission of each; an empty text where the controller names none. */
const LACKED = signal<readonly { readonly permission: string }[]>([])

/** A part that the user may not read. On a page of several parts it gives way to one sentence for all of them. */
export function Refused({ problem }: { problem: string }) {
  const [permission = ''] = / (\S+\.\w+)\.$/.exec(problem)?.slice(1) ?? []
  useEffect(() => {
    const own = { permission }
    LACKED.value = [...LACKED.value, own]
    return () => {
      LACKED.value = LACKED.value.filter((one) => one !== own)
    }
  }, [permission])
  return <p class="muted refused">{problem}</p>
}

/** Names the permissions of the parts of a page that are not shown. */
export function NotShown() {
  const lacked = [...new Set(LACKED.value.map(({ permission }) => permission))].filter((one) => one !== '').sort()
  if (LACKED.value.length === 0) return null
  return (
    <p class="muted">
      {lacked.length === 0 ? 'Parts that you may not read' : `Parts that take ${listed(lacked)}`} are not shown.
    </p>
  )
}
