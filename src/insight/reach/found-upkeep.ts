import { errorText } from '../../base/errors.ts'
import { CLOCK_TOLERANCE_SECONDS, DAY_MS } from '../../base/time.ts'
import { logFailure } from '../../context/background-failure.ts'
import { type FindingSources, type Found, unnamed } from './found-credentials.ts'

/** A backup is old from this age on (ms): a daily backup may be late once. */
const OLD_MS = 2 * DAY_MS

/** Whether the clock of this process is behind the instants at which others wrote: who logs in there is refused here. */
export async function clockBehind({ context: { otherClocks } }: FindingSources): Promise<Found> {
  const seconds = Math.ceil(otherClocks.behindMs() / 1000)
  if (seconds === 0) return { ids: [], judged: 1 }
  const details = new Map([['clock', `${seconds} s behind another controller, or behind what it wrote itself`]])
  return { ...unnamed([{ id: 'clock', name: 'the clock of this controller' }]), details, judged: 1 }
}

/** Connected edge routers whose clock differs from that of their controller by more than tokens bear. */
export function routerClocks({ context: { storage, presence }, partition }: FindingSources): Promise<Found> {
  return storage.read(async (tx) => {
    const routers = await presence.at(tx)
    const known = (partition.kinds.get('edge-routers')?.members.flat() ?? []).flatMap((id) => {
      const aheadMs = routers.connectionOf(id)?.clockAheadMs
      return aheadMs === undefined ? [] : [{ id, seconds: Math.round(aheadMs / 1000) }]
    })
    const apart = known.filter(({ seconds }) => Math.abs(seconds) > CLOCK_TOLERANCE_SECONDS)
    const details = new Map(
      apart.map(({ id, seconds }) => [
        id,
        `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the controller`,
      ]),
    )
    return { ids: apart.map(({ id }) => id), details, judged: known.length }
  })
}

/** The latest backup that the host knows of, where it is too old, missing, or out of sight. */
export async function oldBackup({ context: { clock, logger, settings } }: FindingSources): Promise<Found> {
  const { latestBackup } = settings
  if (latestBackup === undefined) return { ids: [], judged: 0 }
  const found = (name: string) => ({ ...unnamed([{ id: 'latest', name }]), judged: 1 })
  try {
    const at = (await latestBackup())?.getTime()
    if (at === undefined) return found('no backup was made yet')
    if (!(clock.now() - at >= OLD_MS)) return { ids: [], judged: 1 }
    return { ...found('the latest backup'), instants: new Map([['latest', at]]) }
  } catch (error) {
    logFailure(logger, 'the host does not say when the latest backup was made', error)
    return { ...found('the latest backup'), details: new Map([['latest', errorText(error)]]) }
  }
}
