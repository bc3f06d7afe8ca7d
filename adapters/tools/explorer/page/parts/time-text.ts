const INSTANT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const DISTANCE = new Intl.RelativeTimeFormat(undefined, { numeric: 'always' })

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** An instant in the time zone of the reader; without the date where it is of today. */
export function timeText(instant: string): string {
  const date = new Date(instant)
  return date.toDateString() === new Date().toDateString() ? TIME.format(date) : INSTANT.format(date)
}

const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** An instant with its date, in the time zone of the reader, which it names. */
export function wholeText(instant: string): string {
  return WHOLE.format(new Date(instant))
}

/** An instant with its distance from now, as `12:40:10 (in 32 minutes)`. */
export function untilText(instant: string): string {
  return `${timeText(instant)} (${distanceText(instant)})`
}

/** The distance of an instant from now, as `in 12 days`. */
export function distanceText(instant: string): string {
  const distance = Date.parse(instant) - Date.now()
  const [unit, size] = UNITS.find(([, milliseconds]) => Math.abs(distance) >= milliseconds) ?? ['second', 1000]
  return DISTANCE.format(Math.round(distance / size), unit)
}

/** An instant as a field for the reader's time has it; empty for any other value. */
export function localText(instant: unknown): string {
  const date = new Date(typeof instant === 'string' ? instant : NaN)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().replace(/(:00)?(\.000)?Z$/, '')
}

/** The instant of a field for the reader's time, RFC 3339; undefined while the field has none. */
export function instantOf(text: string): string | undefined {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** The time zone in which an instant is shown, now unless given, as `GMT+1`. */
export function zoneText(instant = new Date().toISOString()): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' }).formatToParts(new Date(instant))
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}
