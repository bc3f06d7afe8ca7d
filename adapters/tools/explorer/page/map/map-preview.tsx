import { go, hrefOf } from '../navigation/place.ts'
import { hrefOfEntity } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useApis } from '../session/session.ts'
import { MapDrawing } from './map-drawing.tsx'
import { isEmptyMap, readMap } from './read-map.ts'

/** As many groups of each kind: the whole picture stands beside other things. */
const GROUPS = 12

/** A small access map. A group leads to the map of its own groups, an entity to its page. */
export function MapPreview() {
  const apis = useApis()
  const answer = useAnswer((signal) => readMap(apis, { type: 'Dial', groups: GROUPS }, signal), [apis])
  // The first view shows no error to a user who may not read the whole map.
  if (answer.problem !== undefined) return null
  return (
    <section class="card map-preview" aria-label="Who reaches what">
      <div class="panel-head">
        <h2>Who reaches what</h2>
        <a href={hrefOf('graph')}>In full</a>
      </div>
      <Loaded answer={answer} isEmpty={isEmptyMap} empty="There is no service yet.">
        {(map) => (
          <MapDrawing
            map={map}
            chosen={undefined}
            onChoose={(choice) => {
              const group = choice && map.sides[choice.side].groups[choice.place]
              if (choice === undefined || group === undefined) return
              if (group.entity) location.hash = hrefOfEntity(choice.side, group.entity.id)
              else go('graph', { [choice.side]: group.scope })
            }}
          />
        )}
      </Loaded>
    </section>
  )
}
