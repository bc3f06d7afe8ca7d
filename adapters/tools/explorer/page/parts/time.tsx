import { timeText, wholeText } from './time-text.ts'

/** An instant in the words of the reader; the date, the seconds and the time zone stand behind it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={wholeText(at)}>
      {timeText(at)}
    </time>
  )
}
