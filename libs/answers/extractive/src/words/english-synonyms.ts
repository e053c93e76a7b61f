/**
 * English words that say the same in a question and in a text; bars divide the groups. An entry of several words is
 * recognized in a question only. A word may be in several groups; the groups do not join. Opposites, and things of one
 * kind, such as a dog and a cat, are not here: a sentence about the one does not answer a question for the other.
 */
export const englishSynonyms = `
abandon, give up, drop | able, capable | absent, missing, away, apologies, excused
accept, approve, agree, consent, permit | accident, injury, incident, mishap | account, profile
accurate, exact, precise, correct | achieve, reach, attain | add, append, insert, include | additional, extra
address, location | adjust, change, alter, modify | adult, grown-up | advantage, benefit, pro
advertisement, ad, advertising, promotion | advice, recommendation, tip, guidance, recommend, advise
afraid, scared, frightened | agreement, contract | aim, goal, purpose, objective | alarm, alert, warning
alcohol, wine, beer, spirits, drinking | allow, permit, authorize, permission, allowed, permitted
amount, quantity, sum | angry, upset | animal, pet | annual, yearly, year | answer, reply, respond, response
apartment, flat | appoint, elect, choose, nominate | appointment, booking, consultation, visit
approval, consent, permission, approve | approve, authorize, confirm | argue, dispute, disagree | arrive, reach
ask, request, inquire, enquire | assemble, build, mount, assembly, install | attach, fix, fasten, mount
attend, participate, take part, visit | authority, district, council | available, in stock, offered
avoid, prevent, stop | award, prize | baby, infant, newborn | bag, luggage, baggage | balance, credit
ban, forbid, prohibit, forbidden, prohibited, not allowed, banned, not permitted | bank holiday, public holiday
basement, cellar | battery, batteries, cells | begin, start, commence, launch, beginning | believe, think
bell, ring | benefit, perk | big, large, great, size, huge | bike, bicycle, cycle | bill, invoice, charge
birthday, date of birth, born | boat, ship, vessel | bonus, reward | book, reserve, reservation, booking, order
boss, manager, lead, supervisor, chief, superior | bottle, flask | bottom, lowest, base | box, package, carton
break, fault, damage, broken, defective, defect | break, pause, interval
broken, defective, faulty, damaged, out of order | build, construct, erect, building, construction, built
burn, fire, flame, ignite | bus, coach, shuttle | buy, purchase, acquire, order, bought
calculate, compute, work out | ring, telephone, phone | call off, cancel, cancellation
cancel, end, terminate, cancellation, stop, termination, withdraw | car, vehicle, automobile
care, maintenance, look after, maintain | carry, bear, load, transport | cash, money, notes, coins
cause, reason, due | celebrate, party, celebration | certificate, document, proof
chair, chairperson, chairman, chairwoman, preside | change, switch, replace, modify, alter, amend
charge, fee, cost, price, bill | cheap, inexpensive | check, inspect, test, examine, verify, control, inspection
chef, cook | child, kid, children, minor | choose, select, pick, decide, choice, selection | city, town
claim, request, demand | clean, wash, wipe, cleaning, brush, rinse | evacuate, leave | clerk, assistant, employee
shut, closed | clothes, clothing, dress, garments | coach, trainer, instructor | coat, layer
cold, cool, chill, refrigerate | colleague, coworker, co-worker | collect, gather, pick up, fetch, collection
college, school, university | color, colour | comfortable, comfort, cosy | commission, fee | committee, board
communicate, contact, talk | company, firm, business, employer, corporation, organization, enterprise
compensation, reimbursement, refund, payment | competitor, rival, competition | complain, complaint, objection
complete, finish, whole, finished, entire | compulsory, mandatory, required, obligatory
computer, laptop, pc, notebook | concert, performance, gig, show | condition, requirement, term
conference, meeting | confidential, secret, private | configure, set up, configuration, setting, setup
connect, attach, plug, connection, link | consider, think about
consist, contain, made of, comprise, include, composed | contact, reach, speak to, talk to, telephone, ring, email
contain, include, contents, ingredients | continue, proceed | contribute, pay | cook, prepare, boil, bake
copy, duplicate, photocopy | correct, proper, fix | cost, price, fee, charge, rate, expense, expensive
country, nation | couple, pair, two | course, training, class, lesson, workshop | cover, include, insured, lid
crack, break, split | create, establish, found, write | crew, staff, team | crime, theft, offence
crowd, visitors, audience | cure, treat, heal, treatment | customer, client, buyer, guest, user
cut, slice, trim, chop, reduce | damage, break, harm, broken, hurt
danger, risk, hazard, dangerous, risky, hazardous | dark, black | data, information, readings
dead, die, death, pass away, passed away, died, deceased, bereavement, bereaved | deadline, due, latest
debt, owe, owed | decide, resolve, decision, agree, resolution, determine | decrease, reduce, lower, drop, reduction
delay, postpone, wait | delete, erase, remove, wipe, deletion
deliver, delivery, ship, send, shipping, shipment, supply, transport | demand, require, request
demolish, destroy, tear down, pull down | department, team, unit | depart, leave, departure
deposit, security, down payment | destroy, ruin, demolish, wreck, sweep away, swept
device, machine, unit, appliance, equipment, gadget | diary, log, journal
die, death, pass away, pass on, lose somebody, lost | difficult, hard, tough | dinner, meal, supper
dirty, soiled, stained | disability, disabled, handicapped | disadvantage, drawback, con
discount, reduction, rebate, per cent off, reduced | discover, find, detect, found
disease, illness, sickness, condition, ill, sick | dismiss, fire, sack, dismissal | display, show, screen, monitor
dispose, throw away, discard, disposal, bin | dissolve, melt | distance, range, kilometres, metres
doctor, physician, gp | document, file, paper | donate, give, donation, gift | door, entrance, gate
download, fetch | draw, pull | drink, beverage | drive, driving, operate | drowsy, sleepy, tired, drowsiness
drug, medicine, medication, tablet, pill | dry, drying, dehumidify | duration, length, period
duty, obligation, responsibility, task, duties | earn, salary, pay, wage, income | earnings, income, revenue, profit
east, eastern | easy, simple | eat, food, meal, feed, consume | edge, border, rim | education, training, study
effect, consequence, result | elderly, old, senior | elect, vote, election, elected
electricity, power, electric, energy, current | email, e-mail, mail | emergency, urgent, urgency
employee, staff, worker, personnel, colleague | empty, drain | end, finish, expire, stop, ending | enemy, pest
enough, sufficient | enter, get in, access, admission, come in, entry | entitled, eligible, entitlement
entrance, admission, entry | environment, surroundings | equal, same, identical | equipment, gear, kit, tools
error, fault, mistake, failure, problem | establish, found, create, set up, founded | event, occasion
evidence, proof | examine, check, inspect, test, examination | example, sample | exceed, more than, beyond
excuse, reason | execute, carry out | exit, way out, leave | expect, anticipate
expecting, pregnant, pregnancy, expectant | expense, cost, spending, expenditure | expert, specialist
expire, lapse, end, run out, valid | explain, describe, clarify | export, download, extract
extend, prolong, renew, extension | fail, break down, failure, failed | drop, decline | family, relatives, household
famous, well-known | farm, farmer | fast, quick, rapid, speed, quickly | fasten, attach, secure | father, dad
fee, charge, price, cost, dues, subscription | female, woman | festival, fair | fill, load, refill, top up
film, movie | finance, fund, pay, money | find, locate, discover | fine, penalty, punishment
finish, complete, end, done | fire, blaze | first aid, red cross, injury | suit, match | fix, repair, mend, solve
flu, influenza | forename, first name | forest, wood | forget, miss, leave out, missed | form, shape
found, establish, start, create, founder, founded | fraction, share
free, gratis, no charge, without charge, complimentary, costless | freeze, frost, frozen | fridge, refrigerator
friend, mate, somebody close | frighten, scare | front, forward | fuel, petrol, gas, diesel
complete, filled, booked out | function, feature, purpose | fund, finance, sponsor | funny, amusing
garbage, rubbish, waste, trash, refuse | garden, yard | give, hand, provide, grant | give back, return, hand in
goods, wares, products, merchandise | govern, rule | grandchild, grandson, granddaughter
grandmother, grandfather, grandparent | grant, allow | grief, mourning, bereavement, loss | ground, floor
guarantee, warranty, warrant | guard, security, watchman | guest, visitor | guide, manual, instructions, handbook
handle, deal | occur, take place | happy, glad, pleased | hate, dislike | need, required, obliged | leader, boss
headquarters, main office, seat, head office | hear, listen | heat, warm, temperature, hot, heating
heavy, weigh, weight | height, tall | help, assist, support, volunteer, aid | helper, volunteer, assistant
hide, conceal | hire, rent, rental, employ, recruit | history, past | hit, strike
holiday, vacation, leave, annual leave | hospital, clinic | host, organize | hotel, accommodation, lodging
hours, opening hours, opening times | house, building | humid, damp, moist, humidity, moisture | hurry, rush
hurt, injure, injury, harm | husband, wife, spouse, partner | identity card, id, passport
ill, sick, unwell, illness, sickness | illegal, unlawful, forbidden
immediately, at once, right away, straight away, instantly | important, essential, significant
improve, better, enhance | include, contain, part of, cover, included | income, revenue, takings, earnings
increase, raise, rise, grow, higher, raised | inform, notify, tell, notice, announce
ingredient, contain, made of, need | inhabitant, resident, population, people
injection, shot, jab, vaccine, vaccination | injury, hurt, wound, accident, harm | inn, pub, tavern
inside, indoors | instalment, installment, bit by bit, monthly payment, rate | install, set up, installation, put in
instruction, direction, guide | insurance, insurer, insure, insured, liability, cover | insurer, insurance company
interest, charge | interrupt, stop, pause | interval, every, period | introduce, bring in, add
invent, develop, design, create, inventor | investigate, examine, look into | invite, invitation, guest
item, article, product, goods | jam, stuck, blocked | job, position, post, role, occupation
join, enter, become a member, enroll, sign up | journey, trip, travel | judge, decide | jump, leap
keep, store, retain, preserve, kept, stored, retention | keep fresh, keep, stay fresh, stays fresh | key, password
kill, destroy | kind, type, sort | king, ruler | kitchen, cook | knock, hit | know, aware | lack, missing, without
lane, road, street | language, tongue | keep, duration | delay, overdue, after | laundry, washing, wash | law, legal
lawyer, solicitor | lazy, idle | leader, chair, manager, chief | leaflet, brochure | leak, drip
learn, study, train | lease, rent, tenancy | leave, quit, resign, depart, end
leftover, unsold, left, remaining, remain | legal, lawful | lend, loan, borrow, lent | let know, inform, tell
level, height | liable, responsible, liability | licence, license, permit | life, lifetime, live
lift, elevator, raise | light, lamp, led, lighting | light, weigh, weight
limit, maximum, cap, restriction, ceiling, exceed | liquid, fluid | list, enumerate | live, dwell, reside
load, weight, carry, burden | location, site, position | lock, block, secure, locked | log in, sign in, login
look after, care, take care | look like, appear, appearance | lorry, truck | lose, loss, missing, lost
loud, noise, noisy, sound | love, like | lucky, fortunate | mail, post, letter, e-mail | main, primary, chief
maintain, service, care, maintenance, serviced | produce, build, manufacture, create, maker
maker, manufacturer, producer, made | male, man | manage, lead, direct | manager, boss, lead, director
market, fair | married, marriage, wedding, spouse | material, substance, fabric, made of
maximum, most, limit, max, highest | meal, food, dinner, lunch | stand for, meaning, signify | meet, gather, meeting
membership, subscription, plan | mention, refer | message, notification | method, way, procedure
middle, centre, center, central | minimum, least, lowest | minister, priest, vicar | minutes, protocol, record
mistake, error, wrong | mix, stir, knead, blend, mixed | mobile, phone, cellphone | money, cash, funds
mother, mum, mom | motor, engine | mouth, jaw | move, relocate, moving, transfer | required, need
narrow, thin, small | necessary, need, required | need, require, necessary, requirement | network, wifi, internet
added, introduced, recent | newcomer, beginner, new starter, joiner | following, upcoming
night, overnight, evening | noise, sound, loud, volume | normal, usual, ordinary, default, standard
notice, period of notice, inform | notify, inform, tell, report | current, at present | object, protest, objection
obtain, receive, acquire | odd, strange | office, workplace | often, frequently, frequency, every | old, age, aged
operation, surgery | opinion, view | opportunity, chance | oppose, against, opposed, vote against | option, choice
organize, arrange, coordinate, organise, organizer | origin, come from, source | outside, outdoors, external
overtime, extra hours, additional hours | belong, possess, property | owner, belong, proprietor, owns | pack, wrap
package, parcel | paint, colour, varnish | parent, mother, father | park, parking | piece, component
participant, attendee, member, registered | participate, take part, attend, join | password, passphrase, login
pay, cost, fee, salary, payment, paid | payment, pay, paid, instalment | peak, top, highest
penalty, fine, fee, charge | people, persons, staff | per cent, percent, percentage
permission, consent, approval, permit, allow | permit, allow, licence | person, individual, somebody
phone, telephone, mobile | photo, picture, photograph, image, take photos | pick up, collect, fetch, collected
piece, item | pipe, tube, hose | location, site, venue | plan, intend, schedule | plant, grow | poison, toxic
police, officer | polite, friendly | pool, fund | popular, liked | population, inhabitants | portion, serving, share
postage, shipping | postpone, delay, put off, postponed, defer | pot, pan | practice, surgery | precaution, safety
prepare, get ready | president, chair | press, push | previous, former, earlier | principal, main | print, paper
privacy, data protection, personal data | private, personal | probation, trial period
problem, trouble, fault, issue, difficulty | procedure, process, steps | profit, gain | promise, commit
property, belongings | proposal, motion, suggestion | propose, suggest, proposed | protect, safe, guard, protection
provide, supply, give, offer | publish, release, issue, announce | punish, fine, penalty | pupil, student
put to sleep, euthanasia | quality, grade | quantity, amount, number | quarrel, dispute | quiet, silent, silence
quit, leave, resign, stop, end | raise, increase, lift | rattle, noise, sound, rattling | ready, finished, prepared
real, actual | receipt, invoice, bill | recipient, receiver | recommend, suggest, advise, recommended
record, log, document | recover, restore, recovery | reduce, lower, decrease, cut, reduction, smaller
refund, money back, reimburse, repay, pay back, give back, returned, refunded | refuse, reject, deny, decline
region, area, district | register, sign up, enroll, registration, subscribe | registration, sign-up, enrolment
reject, refuse, not carried, vote down, dismissed | relative, family | release, publish, version
reliable, dependable | remain, stay, left | remember, recall | remind, reminder
remove, delete, take off, take away, removal | renew, extend, prolong, renewal | rent, hire, lease, rental
repeat, again | replace, exchange, change, swap, replacement | representative, delegate
request, ask, apply, application | rescue, save | reset, restore | resign, leave, quit, stand down, step down
responsible, liable, responsibility, takes care | restaurant, canteen, cafe | restore, recover, get back
result, outcome | resume, continue | retire, pension, retirement | return, bring back, give back, come back
reverse, undo, undone, revert | revoke, withdraw, undo | reward, prize | ride, drive | roast, bake
room, hall, chamber | rotten, spoiled | rough, coarse | round, circular | rule, regulation, policy | sad, unhappy
safety, security | salt, sodium | schedule, timetable, plan, rota | search, look for, find | season, time of year
section, chapter | secure, safe, fasten | sell, sale, sold, vend | send, post, mail, ship, transmit
separate, apart | serious, severe | service, support | set up, install, configure, found, setup | settle, pay
sew, stitch | sharp, keen | shelf, rack | shirt, clothes | shop, store, supermarket | shorten, cut
show up, attend, arrive, missed | shrink, reduce | shut down, switch off, turn off | side effect, adverse, reaction
signature, signed | similar, alike | sit, seat | site, ground | size, large, big, dimension, measure
skill, ability | small, little, tiny | smell, odour, odor, scent | smoke, cigarette, smoking | soft, gentle
soil, earth | solve, fix, resolve, solution | song, music | space, room | special, particular | speed, fast, pace
spend, pay, spent, cost | split, divide, share | spoil, go bad, rotten | sponsor, fund, pays | spread, apply
stable, steady | staff, employees, personnel, team, workers | stain, spot | stairs, steps | stamp, postage
start, begin, switch on, turn on, launch | steal, theft, stolen, rob, thief, thieves, stealing | steel, metal
step, stage | sticky, adhesive | stop, end, finish, cease, halt | store, keep, save, storage, kept
storm, wind, gusts | story, tale | strength, power | strict, severe | strong, powerful | subject, topic
sublet, rent out, subletting | substitute, deputy, stand in, replacement, stands in | succeed, manage
sudden, unexpected | sugar, sweet | suggest, propose, recommend | suitable, suits | sum, total, amount
supervise, oversee | supplier, vendor, supply, supplies, deliver | sure, certain | surname, last name, family name
surveillance, camera, cctv | suspend, block, stop | sweep, brush | swim, bath | switch, button
switch off, turn off, power off | switch on, turn on, power on | talk, speak, contact | tank, container
task, job, duty | taste, flavour, flavor | tax, vat, duty | teach, train, instruct | teacher, instructor, trainer
temperature, hot, warm, cold, degrees | temporary, for a time | tenant, renter, lessee | tent, camping
test, check, trial | thank, grateful | thick, thickness | item, object | ticket, pass, card | tidy, clean
tight, firm | toilet, lavatory, bathroom, restroom | tool, instrument | tooth, dental, teeth, dentist
total, altogether, sum, overall | touch, contact | tour, trip | toxic, poisonous | track, trace, follow
trade, deal | train, railway, rail | trainee, apprentice, intern | translate, translation
transport, carry, transportation | treat, cure, treatment, therapy | tree, wood | trousers, pants | trust, rely
try, attempt, test | turn down, refuse, reject | ugly, unattractive | umbrella, parasol | uncertain, unsure
uncle, aunt | uncommon, rare | underage, under eighteen, under 18 | understand, know | uninstall, remove
union, association | update, upgrade, new version | upload, send | apply, usage, employ, operate
used, second-hand, secondhand | useful, helpful | usual, normal, typical | vapour, steam, vapor
vet, veterinarian, veterinary | violate, break, breach | virus, malware | vote, elect, favour | wait, stay
walk, foot | wallet, purse | warehouse, stock | warn, alert | watch, monitor | wet, moisture
waterproof, watertight | weak, feeble | weapon, gun | wear, clothes | weather, rain, wind, storm, snow
website, site, web page | weekend, saturday, sunday | weight, heavy, load | wet, damp | wheel, tyre
wide, width, broad | widow, widower | wifi, wireless, wi-fi, wlan | win, victory, won | wireless, wifi, radio
withdraw, revoke, cancel | wood, timber | function, job | work from home, remote, home office, working from home
world, global | worry, concern | worth, value, price | write, record, author, wrote, written, minutes
wrong, incorrect | young, child, youth, minor | zip code, postcode, postal code
`;
