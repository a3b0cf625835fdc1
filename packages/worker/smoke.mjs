import { CoordinatedWorker } from './dist/index.js'
import { InMemoryLeaderElector, SharedLeaderState, InMemoryTransport, SharedBus, InMemoryOwnership, SharedClaims } from '@es/coordination-memory'
const sharedState=new SharedLeaderState(), bus=new SharedBus(), claims=new SharedClaims()
const subs=Array.from({length:12},(_,i)=>'s'+i)
const t0=performance.now()
const mk=(id)=>{ const elector=new InMemoryLeaderElector(id,{sharedState}); const transport=new InMemoryTransport({bus,name:id}); const ownership=new InMemoryOwnership(id,{claims})
 const w=new CoordinatedWorker({instanceId:id,subscriptions:subs,elector,transport,ownership,settleSeconds:0.3,
  run:async(s,{signal})=>{ await new Promise(r=>signal.addEventListener('abort',r)) }})
 w.onEvent(e=>{ if(!['peer_changed'].includes(e.type)) console.log(((performance.now()-t0)|0), id, e.type, e.subscription??e.subscriptions?.join()??(e.plan?e.plan.moves.length+' moves':''), e.cause??'')})
 return w }
const a=mk('a'), b=mk('b')
await a.start(); await b.start()
await new Promise(r=>setTimeout(r,1500))
const c=mk('c'); await c.start()
await new Promise(r=>setTimeout(r,1500))
console.log(JSON.stringify(a.status().work.map(w=>w.subscription+':'+w.phase)), c.status().whyIdle, b.status().whyIdle, JSON.stringify(a.health()))
console.log(await a.stop())
await new Promise(r=>setTimeout(r,1000))
console.log(b.status().work.length, c.status().work.length, b.status().whyIdle)
console.log(await b.stop(), await c.stop())
