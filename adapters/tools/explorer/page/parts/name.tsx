import { visibleLine } from '../../../../../src/base/text.ts'

/**
 * A given name in a safe form: it does not change the direction of the text around it, and invisible characters are written out, so that no
 * two names look alike by them.
 */
export function Name({ of }: { of: string }) {
  return <bdi>{visibleLine(of)}</bdi>
}
