import type { ComponentType } from 'preact'
import { isOfNothing } from '../events/network-event.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'

/** A view whose code is loaded when it is opened: most readers of the first view never need it. */
export function lazily(load: () => Promise<{ readonly View: ComponentType }>): ComponentType {
  return () => <Loaded answer={useAnswer(load, [], isOfNothing)}>{({ View }) => <View />}</Loaded>
}
