import { visibleLine } from '../../../../../src/base/text.ts'

/**
 * A name that somebody gave, as it may be shown: it does not turn the text around it, and characters that nobody sees are
 * written out, so that no two names look alike by them.
 */
export function Name({ of }: { of: string }) {
  return <bdi>{visibleLine(of)}</bdi>
}
